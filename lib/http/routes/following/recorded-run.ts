import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { WavetrainError } from '../../../common/errors.js';
import type { Json } from '../../../common/json.js';
import type { InspectionOrigin } from '../../../runs/inspection/entry.js';
import type { RunRecord } from '../../../runs/record.js';
import { SECURITY_HEADERS } from '../../security/browser-guard.js';
import { formatEndFrame, formatNamedFrame, OPENING_FRAME, STREAM_HEADERS } from '../../sse/frames.js';

/** A run that is shown without the server that ran it. */
export interface RecordedRun {
  readonly record: RunRecord;
  /** In order; their numbers grow. */
  readonly entries: readonly { readonly seq: number; readonly json: string }[];
  /** Number of entries that are not there. */
  readonly dropped: number;
  readonly origin: InspectionOrigin;
  readonly statecharts: readonly Json[];
}

export interface RecordedRunServer {
  /** The address of the page, such as `http://127.0.0.1:40123/inspect/019b7600-…`. */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

/**
 * Serves the page of the inspector over one recorded run, on a free port of this machine only, with the paths of a server.
 * Rejects with `bad_usage` when it cannot listen.
 *
 * @param webFolder the built page: `index.html` and its assets
 */
export async function serveRecordedRun(run: RecordedRun, webFolder: string): Promise<RecordedRunServer> {
  const pages = new Pages(run, webFolder);
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
    url: `http://${LOOPBACK}:${port}/inspect/${run.record.run_id}`,
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
  readonly body: Iterable<string | Buffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

async function respond(
  pages: Pages,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): Promise<void> {
  const answer = await findAnswer(pages, request, port);
  response.writeHead(answer.status, { ...SECURITY_HEADERS, 'Content-Type': answer.type, ...answer.headers });
  if (request.method === 'HEAD') return void response.end();
  for (const piece of answer.body) {
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
  { method, headers, url = '/' }: IncomingMessage,
  port: number,
): Promise<Answer> {
  // A name of an attacker may resolve to this machine (D38).
  if (![`${LOOPBACK}:${port}`, `localhost:${port}`].includes(headers.host ?? '')) {
    return toError(421, 'foreign_host', 'this server has another name');
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return toError(405, 'method_not_allowed', 'a recording can only be read');
  }
  const { pathname, searchParams } = new URL(url, `http://${LOOPBACK}`);
  const after = Number(headers['last-event-id'] ?? searchParams.get('after') ?? 0) || 0;
  const wantsStream = headers.accept?.includes('application/json') !== true;
  return (
    (await pages.find(pathname, after, wantsStream)) ??
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

/** What there is to read of a recorded run, by path. */
class Pages {
  readonly #run: RecordedRun;
  readonly #folder: string;

  constructor(run: RecordedRun, folder: string) {
    this.#run = run;
    this.#folder = folder;
  }

  async find(path: string, after: number, wantsStream: boolean): Promise<Answer | undefined> {
    const { record, statecharts, entries } = this.#run;
    const run = `/pipelines/runs/${record.run_id}`;
    switch (path) {
      case '/':
      case '/inspect':
      case `/inspect/${record.run_id}`:
        return this.#file('index.html');
      case '/inspect/statecharts.json':
        return toJson(statecharts);
      case run:
        return toJson(record);
      case '/pipelines/runs':
        return toJson({ runs: [record], next_cursor: null });
      case `${run}/inspection`:
        if (!wantsStream) return this.#list(after);
        return after >= (entries.at(-1)?.seq ?? 0) && after > 0
          ? { status: 204, type: 'text/event-stream', body: [] }
          : {
              status: 200,
              type: 'text/event-stream; charset=utf-8',
              headers: STREAM_HEADERS,
              body: this.#stream(after),
            };
      default:
        return this.#file(ASSET.exec(path)?.[1]);
    }
  }

  #list(after: number): Answer {
    const { record, entries, dropped, origin } = this.#run;
    const first = entries.findIndex(({ seq }) => seq > after);
    const found = first === -1 ? [] : entries.slice(first);
    const [head, tail] = [
      { run_id: record.run_id },
      {
        last_seq: entries.at(-1)?.seq ?? 0,
        gap: dropped > 0 && after < (entries[0]?.seq ?? 0) - 1,
        closed: true,
        origin,
      },
    ].map((part) => JSON.stringify(part).slice(1, -1));
    const body = (function* list(): Generator<string> {
      yield `{${head},"entries":[`;
      for (const [index, { json }] of found.entries()) yield index === 0 ? json : `,${json}`;
      yield `],${tail}}`;
    })();
    return { status: 200, type: 'application/json; charset=utf-8', body };
  }

  *#stream(after: number): Generator<string> {
    const { record, entries } = this.#run;
    yield OPENING_FRAME;
    let last = after;
    for (const { seq, json } of entries) {
      if (seq <= after) continue;
      if (seq > last + 1) yield formatNamedFrame('gap', { after: last, next: seq });
      yield `id: ${seq}\ndata: ${json}\n\n`;
      last = seq;
    }
    yield formatEndFrame(record.run_id, record.status);
  }

  async #file(name: string | undefined): Promise<Answer | undefined> {
    const type = TYPES[extname(name ?? '')];
    if (name === undefined || type === undefined) return undefined;
    try {
      const bytes = await readFile(join(this.#folder, name));
      return { status: 200, type, body: [bytes], headers: { 'Content-Security-Policy': PAGE_POLICY } };
    } catch {
      // A file that is not there, whatever the reason, is not served.
      return undefined;
    }
  }
}
