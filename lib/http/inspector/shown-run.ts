import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { WavetrainError } from '../../common/errors.js';
import { isObject, type Json } from '../../common/json/json.js';
import { runToEnd } from '../../common/scheduling/steps.js';
import type { InspectionOrigin } from '../../runs/inspection/entry.js';
import type { RecordedLog, RecordingHead } from '../../runs/inspection/recording.js';
import type { RunRecord } from '../../runs/record.js';
import { recordingFormat } from '../../runs/inspection/recording.js';
import type { FailedCall, FailedCallsQuery } from '../../runs/tasks/task-record.js';
import { errorResponse } from '../errors/error-response.js';
import { pagePolicy, SECURITY_HEADERS } from '../security/browser-guard.js';
import { formatEndFrame, type NumberedLog, OPENING_FRAME, readChunk, STREAM_HEADERS } from '../sse/frames.js';
import { findValues, type LiveRun } from './shown-values.js';

/** A run that is shown without the server that ran it: a recording, or the run of a command. */
export interface ShownRun {
  readonly record: () => RunRecord;
  readonly log: NumberedLog & RecordedLog;
  readonly origin: InspectionOrigin;
  /** The tasks and items that have failed, with their values. */
  readonly failedCalls: (query: FailedCallsQuery) => Promise<readonly FailedCall[]>;
  /** Returns the version and the time with which a recording of the run begins. */
  readonly describe: () => Pick<RecordingHead, 'version' | 'recorded_at'>;
  /** The actions on a run that is at work. Undefined for a recording. */
  readonly live?: LiveRun | undefined;
}

interface ShownRunOptions {
  /** Resolves when there is a run to show. */
  readonly run: Promise<ShownRun>;
  readonly statecharts: readonly Json[];
  /** The built page: `index.html` and its assets. */
  readonly webFolder: string;
  /** Called when somebody opens the page. */
  readonly onOpened?: (() => void) | undefined;
}

export interface ShownRunServer {
  /** The address of the page, such as `http://127.0.0.1:40123/inspect`. */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

/**
 * Serves the page of the inspector over one run, on a free port of this machine only, with the paths of a server.
 * Rejects with `bad_usage` when it cannot listen.
 */
export async function serveShownRun(options: ShownRunOptions): Promise<ShownRunServer> {
  const pages = new Pages(options);
  let port = 0;
  const server = createServer((request, response) => {
    void respond(pages, request, response, port);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new WavetrainError('bad_usage', `cannot listen on ${LOOPBACK}: ${error.message}`, { cause: error }),
      ),
    );
    server.listen(0, LOOPBACK, resolve);
  });
  ({ port } = server.address() as AddressInfo);
  return {
    url: `http://${LOOPBACK}:${port}/inspect`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Pieces = Iterable<string | Buffer> | AsyncIterable<string | Buffer>;

interface Answer {
  readonly status: number;
  readonly type: string;
  /** Pieces that are sent one after another, each when the connection has accepted the one before. */
  readonly body: Pieces | ((response: ServerResponse) => Pieces);
  readonly headers?: Readonly<Record<string, string>>;
}

/** Never rejects: the command goes on, whatever one request does. */
async function respond(
  pages: Pages,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): Promise<void> {
  try {
    const answer = await findAnswer(pages, request, port).catch(toErrorAnswer);
    const headers = { ...SECURITY_HEADERS, 'Content-Type': answer.type, ...answer.headers };
    response.writeHead(answer.status, headers);
    if (request.method === 'HEAD') return void response.end();
    const body = typeof answer.body === 'function' ? answer.body(response) : answer.body;
    for await (const piece of body) {
      if (response.destroyed) return;
      if (!response.write(piece)) {
        await new Promise<void>((resolve) => {
          response.once('drain', resolve).once('close', resolve);
        });
      }
    }
    response.end();
  } catch {
    // The end of the response is missing, which the reader notices.
    response.destroy();
  }
}

function toErrorAnswer(thrown: unknown): Answer {
  const { status, body } =
    errorResponse(thrown) ??
    errorResponse(new WavetrainError('internal', 'the page cannot be served: run the command again'));
  return toJson(body, status);
}

async function findAnswer(pages: Pages, request: IncomingMessage, port: number): Promise<Answer> {
  const { method = '', headers, url = '/' } = request;
  // A name of an attacker may resolve to this machine (D38).
  if (![`${LOOPBACK}:${port}`, `localhost:${port}`].includes(headers.host ?? '')) {
    throw new WavetrainError('foreign_host', 'this server has another name: open the address that it prints');
  }
  const base = `http://${LOOPBACK}`;
  if (!URL.canParse(url, base)) throw new WavetrainError('invalid_request', 'the address is not one');
  const { pathname, searchParams } = new URL(url, base);
  if (method !== 'GET' && method !== 'HEAD') {
    if (headers.origin !== undefined && headers.origin !== `http://${headers.host}`) {
      throw new WavetrainError('foreign_origin', 'a page of another origin may not change the run');
    }
    const answer = method === 'POST' ? await pages.act(pathname, () => readForce(request)) : undefined;
    if (answer !== undefined) return answer;
    throw new WavetrainError('method_not_allowed', 'this can only be read: a recording does not change');
  }
  const after = Number(headers['last-event-id'] ?? searchParams.get('after') ?? 0) || 0;
  const wantsStream = headers.accept?.includes('application/json') !== true;
  const answer = await pages.find(pathname, { after, wantsStream, searchParams });
  return answer ?? Promise.reject(new WavetrainError('not_found', `there is no path ${pathname}`));
}

/** Maximum length of the body of a request, which says only how to cancel. */
const MAX_BODY_BYTES = 1024;

/** Resolves with true when a request asks to stop the tools in flight, too: `{"force": true}`. */
async function readForce(request: AsyncIterable<Buffer>): Promise<boolean> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.length;
    if (length > MAX_BODY_BYTES) {
      throw new WavetrainError('body_too_large', `the body may have ${MAX_BODY_BYTES} bytes`);
    }
    pieces.push(piece);
  }
  if (length === 0) return false;
  try {
    const body: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'));
    return isObject(body) && body['force'] === true;
  } catch (error) {
    throw new WavetrainError('invalid_request', 'the body is not JSON', { cause: error });
  }
}

function toJson(value: unknown, status = 200): Answer {
  return { status, type: 'application/json; charset=utf-8', body: [JSON.stringify(value)] };
}

const ASSET = /^\/inspect\/assets\/[\w.-]+\/([\w-][\w.-]*)$/;
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The actions of the page on a run. */
const ACTION = /^\/(continue|step|cancel)$/;

interface Query {
  /** Number of the last entry that the reader has. */
  readonly after: number;
  readonly wantsStream: boolean;
  readonly searchParams: URLSearchParams;
}

/** Entries of one list. */
const MAX_LISTED = 10_000;

/** The answers about a run, by path. */
class Pages {
  readonly #options: ShownRunOptions;

  constructor(options: ShownRunOptions) {
    this.#options = options;
  }

  async find(path: string, query: Query): Promise<Answer | undefined> {
    const { statecharts, run: shown, onOpened } = this.#options;
    if (path === '/inspect/statecharts.json') return toJson(statecharts);
    const asset = ASSET.exec(path)?.[1];
    if (asset !== undefined) return this.#file(asset);
    if (path.startsWith('/inspect') || path === '/') onOpened?.();
    const run = await shown;
    const record = run.record();
    const base = `/pipelines/runs/${record.run_id}`;
    switch (path) {
      case '/':
      case '/inspect':
        return { ...toJson({}, 302), headers: { Location: `/inspect/${record.run_id}` } };
      case `/inspect/${record.run_id}`:
        return this.#file('index.html');
      case base:
        return toJson(record);
      case `${base}/inspection`:
        return query.wantsStream ? answerStream(run, query.after) : answerList(run, query.after);
      case `${base}/recording`:
        return answerRecording(run, statecharts);
      default: {
        if (!path.startsWith(base)) return undefined;
        const values = await findValues(run, path.slice(base.length), query.searchParams);
        return values && toJson(values);
      }
    }
  }

  /**
   * Does something with the run; undefined when there is nothing to do.
   *
   * @param readForce whether the request asks for it
   */
  async act(path: string, readForce: () => Promise<boolean>): Promise<Answer | undefined> {
    const { record, live } = await this.#options.run;
    const base = `/pipelines/runs/${record().run_id}`;
    const action = path.startsWith(base) ? ACTION.exec(path.slice(base.length))?.[1] : undefined;
    if (live === undefined || action === undefined) return undefined;
    if (action === 'cancel') await live.cancel(await readForce());
    else await live.resume(action === 'step' ? 'step' : 'continue');
    return toJson(record());
  }

  async #file(name: string): Promise<Answer | undefined> {
    const type = TYPES[extname(name)];
    if (type === undefined) return undefined;
    try {
      const bytes = await readFile(join(this.#options.webFolder, name));
      return { status: 200, type, body: [bytes], headers: { 'Content-Security-Policy': pagePolicy() } };
    } catch {
      // A file that is not there, whatever the reason, is not served.
      return undefined;
    }
  }
}

async function answerList(run: ShownRun, after: number): Promise<Answer> {
  const { record, log, origin, live } = run;
  const { events, gap } = log.readAfter(after, MAX_LISTED);
  const { run_id } = record();
  // The page shows no buttons for what only a server can do.
  const offers = ['recording', ...(live ? ['actions', 'values'] : await offerFailures(run))];
  const end = { last_seq: log.lastSeq, gap, closed: log.isClosed, origin, offers };
  const [head, tail] = [{ run_id }, end].map((part) => JSON.stringify(part).slice(1, -1));
  const entries = events.map(({ json }) => json).join(',');
  return { ...toJson({}), body: [`{${head},"entries":[${entries}],${tail}}`] };
}

/** A recording has the values of what has failed, if it has any. */
async function offerFailures({ failedCalls }: ShownRun): Promise<string[]> {
  return (await failedCalls(recordingFormat.failedCalls)).length > 0 ? ['failures'] : [];
}

function answerRecording(run: ShownRun, statecharts: readonly Json[]): Answer {
  const { run_id: runId } = run.record();
  const headers = { 'Content-Disposition': `attachment; filename="${runId}.wtrec"` };
  return { status: 200, type: 'application/x-ndjson', headers, body: writeRecording(run, statecharts) };
}

async function* writeRecording(
  { record, log, origin, describe, failedCalls }: ShownRun,
  statecharts: readonly Json[],
): AsyncGenerator<string> {
  const failed_calls = await failedCalls(recordingFormat.failedCalls);
  const head = recordingFormat.createHead({
    ...describe(),
    run: record(),
    failed_calls,
    statecharts,
    origin,
  });
  yield* recordingFormat.writeChunks(runToEnd(head), log);
}

function answerStream(run: ShownRun, after: number): Answer {
  const { log } = run;
  if (log.isClosed && after >= log.lastSeq) return { status: 204, type: 'text/event-stream', body: [] };
  const body = (response: ServerResponse): Pieces => streamEntries(run, after, response);
  return { status: 200, type: 'text/event-stream', headers: STREAM_HEADERS, body };
}

async function* streamEntries(
  { log, record }: ShownRun,
  after: number,
  response: ServerResponse,
): AsyncGenerator<string | Buffer> {
  yield OPENING_FRAME;
  for (let last = after; ; ) {
    const chunk = readChunk(log, last);
    if (chunk !== undefined) {
      last = chunk.last;
      yield chunk.bytes;
    } else if (log.isClosed) break;
    else {
      await new Promise<void>((resolve) => {
        const stop = (): void => {
          unsubscribe();
          response.off('close', stop);
          resolve();
        };
        const unsubscribe = log.subscribe(stop);
        // A page that has gone does not wait for the next entry, which may never come.
        response.once('close', stop);
      });
      if (response.destroyed) return;
    }
  }
  const { run_id, status } = record();
  yield formatEndFrame(run_id, status);
}
