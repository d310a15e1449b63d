import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { RunRecord } from '../../lib/runs/record.js';
import { startTestServer, type TestServer } from '../support/http/test-server.js';
import { createRunRecord } from '../support/runs/run-record.js';
import type { InspectionEntry, InspectionOrigin } from '../../lib/runs/inspection/entry.js';

const STATECHARTS = readFileSync(fileURLToPath(new URL('statecharts.json', import.meta.url)));

/** A run as the fake server knows it. */
export class FakeRun {
  readonly id: string;
  record: RunRecord;
  origin: InspectionOrigin = 'live';
  /** The answers to requests for values, by the path after the id of the run. */
  readonly answers = new Map<string, unknown>();
  readonly #lines: string[] = [];
  readonly #streams = new Set<ServerResponse>();
  #isClosed = false;

  constructor(id: string, record: Partial<RunRecord> = {}) {
    this.id = id;
    this.record = { ...RECORD, run_id: id, ...record };
  }

  get lastSeq(): number {
    return this.#lines.length;
  }

  add(entries: readonly InspectionEntry[]): void {
    this.addTexts(entries.map((entry) => JSON.stringify(entry)));
  }

  /** Adds entries as JSON. */
  addTexts(texts: readonly string[]): void {
    const from = this.#lines.length;
    for (const text of texts) this.#lines.push(text);
    for (const stream of this.#streams) stream.write(this.#frames(from));
  }

  /** Ends every stream as a run that has settled does. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) this.#finish(stream);
  }

  /** Breaks every connection. */
  disconnect(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }

  /** Opens a stream of the entries after `after`. */
  open(after: number, response: ServerResponse, gap?: { after: number; next: number }): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    response.write('retry: 1000\n\n');
    if (gap && after < gap.next - 1) response.write(`event: gap\ndata: ${JSON.stringify(gap)}\n\n`);
    response.write(this.#frames(Math.max(after, gap ? gap.next - 1 : 0)));
    this.#streams.add(response);
    response.once('close', () => this.#streams.delete(response));
    if (this.#isClosed) this.#finish(response);
  }

  #finish(response: ServerResponse): void {
    response.end(`event: end\ndata: ${JSON.stringify({ run_id: this.id, status: this.record.status })}\n\n`);
  }

  #frames(from: number): string {
    return this.#lines
      .slice(from)
      .map((line, index) => `id: ${from + index + 1}\ndata: ${line}\n\n`)
      .join('');
  }
}

/**
 * A server that knows what the spec tells it. The page, its files and their headers come from the real server, so that
 * its Content-Security-Policy holds.
 */
export class FakeServer {
  readonly url: string;
  readonly runs = new Map<string, FakeRun>();
  /** Requests that change something, as in `POST /pipelines/runs/1/continue`. */
  readonly actions: string[] = [];
  /** Answers an action; throws what is to be answered as an error. */
  onAction: (run: FakeRun, action: string) => void = () => {};
  gap: { after: number; next: number } | undefined;
  /** Refuses connections to the entries. */
  isDown = false;
  readonly #http: Server;
  readonly #pages: TestServer;

  private constructor(http: Server, pages: TestServer) {
    this.#http = http;
    this.#pages = pages;
    this.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  static async start(): Promise<FakeServer> {
    const pages = await startTestServer();
    const http = createServer();
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
    const server = new FakeServer(http, pages);
    http.on('request', (request: IncomingMessage, response: ServerResponse) => {
      server.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    return server;
  }

  add(run: FakeRun): FakeRun {
    this.runs.set(run.id, run);
    return run;
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
    await this.#pages.close(0);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.url);
    if (pathname === '/inspect/statecharts.json') return sendJson(response, 200, STATECHARTS);
    if (!pathname.startsWith('/pipelines/')) return this.#pass(pathname, response);
    if (this.isDown) return void response.destroy();
    const [, , , id = '', ...rest] = pathname.split('/');
    const run = this.runs.get(decodeURIComponent(id));
    if (!run) return sendError(response, 404, 'run_not_found', 'there is no such run');
    this.#answerAbout(run, rest.join('/'), request, response);
  }

  #answerAbout(run: FakeRun, rest: string, request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'POST') {
      this.actions.push(rest);
      try {
        this.onAction(run, rest);
      } catch (error) {
        return sendError(response, 409, 'run_not_paused', (error as Error).message);
      }
      return sendJson(response, 200, run.record);
    }
    if (rest === '') return sendJson(response, 200, run.record);
    if (rest === 'inspection') return this.#answerEntries(run, request, response);
    if (rest === 'recording') {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
      return void response.end('{"wavetrain_recording":1}\n');
    }
    if (run.answers.has(rest)) return sendJson(response, 200, run.answers.get(rest));
    sendError(response, 404, 'task_not_found', 'there is no such task');
  }

  #answerEntries(run: FakeRun, request: IncomingMessage, response: ServerResponse): void {
    const after = Number(request.headers['last-event-id'] ?? 0);
    if (request.headers.accept?.includes('event-stream')) return run.open(after, response, this.gap);
    sendJson(response, 200, { run_id: run.id, entries: [], last_seq: run.lastSeq, origin: run.origin });
  }

  async #pass(path: string, response: ServerResponse): Promise<void> {
    const answer = await fetch(this.#pages.url + path);
    const { 'content-encoding': _, ...headers } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, headers);
    response.end(Buffer.from(await answer.arrayBuffer()));
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  sendJson(response, status, { detail: { code, message } });
}

const RECORD = createRunRecord({
  run_id: '',
  pipeline_id: 'summaries',
  goal: '',
  progress: { waves: 2, waves_executed: 1, tasks: 3, tasks_settled: 2, invocations: 9 },
  started_by: { kind: 'key', name: 'ci' },
});
