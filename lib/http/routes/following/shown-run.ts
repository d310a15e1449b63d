import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { errorCode, errorMessage, WavetrainError } from '../../../common/errors.js';
import type { Json } from '../../../common/json.js';
import type { InspectionOrigin } from '../../../runs/inspection/entry.js';
import type { RunRecord } from '../../../runs/record.js';
import type { TaskOptions } from '../../../runs/tasks/task-record.js';
import { SECURITY_HEADERS } from '../../security/browser-guard.js';
import {
  formatEndFrame,
  type NumberedLog,
  OPENING_FRAME,
  readChunk,
  STREAM_HEADERS,
} from '../../sse/frames.js';

/** A run that is shown without the server that ran it: a recording, or the run of a command. */
export interface ShownRun {
  readonly record: () => RunRecord;
  readonly log: NumberedLog & {
    readAfter(seq: number, limit: number): { readonly events: readonly { readonly json: string }[] };
  };
  readonly origin: InspectionOrigin;
  /** Lets a run go on that has paused, or cancels it. Undefined for a recording. */
  readonly act?: ((action: 'continue' | 'step' | 'cancel') => Promise<void>) | undefined;
  /** Reads the inputs and the output of a task or an item. Undefined for a recording, which has none. */
  readonly readTask?: ((call: ShownCall) => Promise<unknown>) | undefined;
}

/** A task, or an item of its fan-out. */
interface ShownCall {
  readonly taskId: string;
  readonly item: number | undefined;
  readonly options: TaskOptions;
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

interface Answer {
  readonly status: number;
  readonly type: string;
  /** Pieces that are sent one after another, each when the connection has accepted the one before. */
  readonly body: Iterable<string | Buffer> | AsyncIterable<string | Buffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

async function respond(
  pages: Pages,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): Promise<void> {
  const answer = await findAnswer(pages, request, port).catch((error: unknown) =>
    toError(409, errorCode(error) ?? 'internal_error', errorMessage(error)),
  );
  response.writeHead(answer.status, { ...SECURITY_HEADERS, 'Content-Type': answer.type, ...answer.headers });
  if (request.method === 'HEAD') return void response.end();
  for await (const piece of answer.body) {
    if (response.destroyed) return;
    if (!response.write(piece)) {
      await new Promise<void>((resolve) => {
        response.once('drain', resolve).once('close', resolve);
      });
    }
  }
  response.end();
}

async function findAnswer(
  pages: Pages,
  { method = '', headers, url = '/' }: IncomingMessage,
  port: number,
): Promise<Answer> {
  // A name of an attacker may resolve to this machine (D38).
  if (![`${LOOPBACK}:${port}`, `localhost:${port}`].includes(headers.host ?? '')) {
    return toError(421, 'foreign_host', 'this server has another name');
  }
  const { pathname, searchParams } = new URL(url, `http://${LOOPBACK}`);
  const after = Number(headers['last-event-id'] ?? searchParams.get('after') ?? 0) || 0;
  if (method !== 'GET' && method !== 'HEAD') {
    const isForeign = headers.origin !== undefined && headers.origin !== `http://${headers.host}`;
    if (isForeign) return toError(403, 'foreign_origin', 'a page of another origin may not change the run');
    const answer = method === 'POST' ? await pages.act(pathname) : undefined;
    return answer ?? toError(405, 'method_not_allowed', 'this can only be read');
  }
  const wantsStream = headers.accept?.includes('application/json') !== true;
  return (
    (await pages.find(pathname, searchParams, after, wantsStream)) ??
    toError(404, 'not_found', `there is no path ${pathname}`)
  );
}

function toError(status: number, code: string, message: string): Answer {
  return toJson({ detail: { code, message } }, status);
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

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TASK = /^\/tasks\/([\w-]+)(?:\/items\/(\d+))?$/;

const ACTION = /\/(continue|step|cancel)$/;

/** Entries of one list. */
const MAX_LISTED = 10_000;

/** What there is to read of a run, by path. */
class Pages {
  readonly #options: ShownRunOptions;

  constructor(options: ShownRunOptions) {
    this.#options = options;
  }

  async find(
    path: string,
    query: URLSearchParams,
    after: number,
    wantsStream: boolean,
  ): Promise<Answer | undefined> {
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
      case '/pipelines/runs':
        return toJson({ runs: [record], next_cursor: null });
      case base:
        return toJson(record);
      case `${base}/inspection`:
        return wantsStream ? answerStream(run, after) : answerList(run, after);
      default:
        return path.startsWith(base) ? readTask(run, path.slice(base.length), query) : undefined;
    }
  }

  /** Does something with the run; undefined when there is nothing to do. */
  async act(path: string): Promise<Answer | undefined> {
    const { record, act } = await this.#options.run;
    const action = ACTION.exec(path)?.[1] as Parameters<NonNullable<typeof act>>[0] | undefined;
    if (act === undefined || action === undefined) return undefined;
    if (path !== `/pipelines/runs/${record().run_id}/${action}`) return undefined;
    await act(action);
    return toJson(record());
  }

  async #file(name: string | undefined): Promise<Answer | undefined> {
    const type = TYPES[extname(name ?? '')];
    if (name === undefined || type === undefined) return undefined;
    try {
      const bytes = await readFile(join(this.#options.webFolder, name));
      return { status: 200, type, body: [bytes], headers: { 'Content-Security-Policy': PAGE_POLICY } };
    } catch {
      // A file that is not there, whatever the reason, is not served.
      return undefined;
    }
  }
}

/** Answers as the routes of tasks do; undefined for another path, or a recording. */
async function readTask(run: ShownRun, path: string, query: URLSearchParams): Promise<Answer | undefined> {
  const [, taskId, item] = TASK.exec(path) ?? [];
  if (run.readTask === undefined || taskId === undefined) return undefined;
  const options = {
    sub_pipeline: query.get('sub_pipeline') ?? undefined,
    whole: query.get('whole') === 'true',
  };
  try {
    return toJson(
      await run.readTask({ taskId, item: item === undefined ? undefined : Number(item), options }),
    );
  } catch (error) {
    return toError(404, errorCode(error) ?? 'internal_error', errorMessage(error));
  }
}

function answerList({ record, log, origin, act, readTask: reader }: ShownRun, after: number): Answer {
  const { events, gap } = log.readAfter(after, MAX_LISTED);
  const { run_id } = record();
  // The page shows no buttons for what only a server can do.
  const offers = [...(act ? ['actions'] : []), ...(reader ? ['values'] : [])];
  const end = { last_seq: log.lastSeq, gap, closed: log.isClosed, origin, offers };
  const [head, tail] = [{ run_id }, end].map((part) => JSON.stringify(part).slice(1, -1));
  const entries = events.map(({ json }) => json).join(',');
  return { ...toJson({}), body: [`{${head},"entries":[${entries}],${tail}}`] };
}

function answerStream(run: ShownRun, after: number): Answer {
  const { log } = run;
  if (log.isClosed && after >= log.lastSeq) return { status: 204, type: 'text/event-stream', body: [] };
  return { status: 200, type: 'text/event-stream', headers: STREAM_HEADERS, body: streamEntries(run, after) };
}

async function* streamEntries({ log, record }: ShownRun, after: number): AsyncGenerator<string | Buffer> {
  yield OPENING_FRAME;
  for (let last = after; ; ) {
    const chunk = readChunk(log, last);
    if (chunk !== undefined) {
      last = chunk.last;
      yield chunk.bytes;
    } else if (log.isClosed) break;
    else {
      await new Promise<void>((resolve) => {
        const unsubscribe = log.subscribe(() => {
          unsubscribe();
          resolve();
        });
      });
    }
  }
  const { run_id, status } = record();
  yield formatEndFrame(run_id, status);
}
