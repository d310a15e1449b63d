import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import { isObject } from '../../common/json/json.js';
import { SharedLimit } from '../../common/memory/shared-limit.js';
import { authorizeRun, type Caller } from '../auth/authenticate.js';
import { KEY_REVOKED } from '../auth/revocation.js';
import { writeError } from '../errors/malformed-requests.js';
import { REQUEST_MESSAGE } from '../logging/log.js';
import type { HttpServices } from '../services.js';
import { closeSocket, INSPECTOR_LIMITS, ReceivedLimit } from './socket-limits.js';
import { StatelyViewer } from './stately-viewer.js';

/** The path of the WebSocket; `run` in its query names the run. */
const SOCKET_PATH = '/inspect/ws';

/** The first message is the only one: `{"key": "…"}`, with a key if the server needs one. */
const MAX_MESSAGE_BYTES = 4096;

const UNAUTHORIZED = 4401;

/** Why a server closes a WebSocket, for the page to say: the statuses of HTTP, among the numbers that are free for it. */
const CLOSE_CODES: Readonly<Record<string, number>> = {
  invalid_request: 4400,
  unauthorized: UNAUTHORIZED,
  forbidden: 4403,
  run_not_found: 4404,
  too_many_streams: 4429,
  memory_full: 4503,
  not_ready: 4503,
  shutting_down: 4503,
};
const INTERNAL_ERROR = 1011;
const GOING_AWAY = 1001;

/** The WebSockets over which pages of this server are informed about runs, for the official Stately inspector. */
export class StatelySockets {
  readonly #services: HttpServices;
  readonly #viewers: SharedLimit;
  readonly #open = new Set<WebSocket>();
  /** The WebSockets whose caller is not known, the oldest first. */
  readonly #unknown = new Set<WebSocket>();
  #server: Promise<WebSocketServer> | undefined;

  constructor(services: HttpServices) {
    this.#services = services;
    this.#viewers = new SharedLimit(services.shareOf(INSPECTOR_LIMITS.viewers));
  }

  /** Handles a request for a WebSocket: refuses it as any other request, or opens it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const startedAt = this.#services.clock.monotonicNow();
    try {
      this.#check(request);
    } catch (thrown) {
      return this.#refuse(request, socket, startedAt, thrown);
    }
    socket.once('close', () => this.#log(request, startedAt, 'closed'));
    this.#accept(request, socket, head).catch((thrown: unknown) => {
      this.#refuse(request, socket, startedAt, thrown);
    });
  }

  /** Closes all WebSockets. */
  close(): void {
    for (const socket of this.#open) {
      socket.close(GOING_AWAY, 'the server shuts down');
      socket.terminate();
    }
  }

  /**
   * A page of another origin may open a WebSocket to any server and read what it sends, so the Origin is checked as for
   * requests that change something (D38).
   */
  #check(request: IncomingMessage): void {
    this.#services.guard.checkHeaders(request, 'POST');
    const { method, url = '' } = request;
    if (url.split('?')[0] !== SOCKET_PATH) {
      throw new WavetrainError('not_found', `there is no WebSocket here, only at ${SOCKET_PATH}`);
    }
    if (method !== 'GET') throw new WavetrainError('method_not_allowed', `${SOCKET_PATH} accepts only GET`);
    this.#services.readiness.assertRestored();
  }

  /** Answers instead of opening a WebSocket. */
  #refuse(request: IncomingMessage, socket: Duplex, startedAt: number, thrown: unknown): void {
    const code = errorCode(thrown);
    this.#log(request, startedAt, 'refused', code);
    if (thrown instanceof WavetrainError) return writeError(thrown, socket);
    const { log, newId } = this.#services;
    const id = newId();
    log.error({ err: thrown, id }, 'internal error');
    socket.destroy();
  }

  async #accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#server ??= createServer();
    const server = await this.#server;
    const received = new ReceivedLimit(socket);
    server.handleUpgrade(request, socket, head, (opened) => {
      this.#add(opened);
      // A frame that is too large or malformed: the package has closed the connection.
      opened.on('error', () => opened.terminate());
      void this.#serve(opened, readRunId(request), received);
    });
  }

  /** Makes place for a new one: whoever sends no key would lock the others out, and those that will send it do so at once. */
  #add(socket: WebSocket): void {
    const [oldest] = this.#unknown;
    if (oldest !== undefined && this.#unknown.size >= INSPECTOR_LIMITS.sockets) oldest.terminate();
    this.#open.add(socket);
    this.#unknown.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#unknown.delete(socket);
    });
  }

  async #serve(socket: WebSocket, runId: string, received: ReceivedLimit): Promise<void> {
    const { clock, log, newId } = this.#services;
    try {
      const key = await this.#receiveKey(socket);
      if (key !== undefined) await this.#watch(socket, runId, key, received);
    } catch (thrown) {
      const code = CLOSE_CODES[errorCode(thrown) ?? ''];
      if (code !== undefined) return closeSocket(socket, code, errorMessage(thrown), clock);
      const id = newId();
      log.error({ err: thrown, id }, 'internal error');
      closeSocket(socket, INTERNAL_ERROR, `internal error ${id}: see the log of the server`, clock);
    }
  }

  /** Informs the page about a run until it has settled, or the page is closed. */
  async #watch(socket: WebSocket, wanted: string, key: string, received: ReceivedLimit): Promise<void> {
    const { queries } = this.#services;
    const caller = this.#authorize(key);
    caller.revocation?.whileOpen(socket, () =>
      closeSocket(socket, UNAUTHORIZED, KEY_REVOKED, this.#services.clock),
    );
    const close = await queries.open(wanted, caller.tenants);
    try {
      await this.#watchRun(socket, authorizeRun(queries, caller, wanted), received);
    } finally {
      close();
    }
  }

  async #watchRun(socket: WebSocket, runId: string, received: ReceivedLimit): Promise<void> {
    const { queries, memory } = this.#services;
    const tenantId = queries.tenantId(runId);
    if (!this.#viewers.tryAcquire(tenantId)) {
      throw new WavetrainError('too_many_streams', 'too many inspectors are open: close some');
    }
    try {
      memory.reserve(tenantId, INSPECTOR_LIMITS.bufferBytes, 'inspector');
      try {
        this.#unknown.delete(socket);
        await new StatelyViewer(socket, this.#services, received).watch(runId);
      } finally {
        memory.release(tenantId, INSPECTOR_LIMITS.bufferBytes);
      }
    } finally {
      this.#viewers.release(tenantId);
    }
  }

  /** Returns the caller if the key may read runs. */
  #authorize(key: string): Caller {
    const { authenticate } = this.#services;
    const caller = authenticate({ headersDistinct: key === '' ? {} : { 'x-api-key': [key] } });
    if (caller === undefined) {
      const message = key === '' ? 'this server needs an API key' : 'the API key is unknown';
      throw new WavetrainError('unauthorized', message);
    }
    if (!caller.scopes.includes('read')) {
      throw new WavetrainError('forbidden', 'this key lacks the scope "read"');
    }
    return caller;
  }

  /** Resolves with the key of the first message, empty when it has none; with undefined when the socket is closed. */
  #receiveKey(socket: WebSocket): Promise<string | undefined> {
    const { clock } = this.#services;
    return new Promise((resolve, reject) => {
      const refuse = (message: string): void => reject(new WavetrainError('invalid_request', message));
      const timer = clock.setTimeout(() => {
        refuse(`no key came within ${INSPECTOR_LIMITS.keyMs / 1000} s: send {"key": "…"} first, or {}`);
      }, INSPECTOR_LIMITS.keyMs);
      socket.once('close', () => {
        clock.clearTimeout(timer);
        resolve(undefined);
      });
      socket.once('message', (data: Buffer) => {
        clock.clearTimeout(timer);
        // A page that sends more would only keep the server busy.
        socket.once('message', () => socket.terminate());
        const key = readKey(String(data));
        if (key === undefined) refuse('the first message must be {"key": "…"}, or {}');
        else resolve(key);
      });
    });
  }

  #log(request: IncomingMessage, startedAt: number, end: 'refused' | 'closed', code?: string): void {
    const { clock, log } = this.#services;
    const durationMs = Math.round(clock.monotonicNow() - startedAt);
    const path = request.url?.split('?')[0];
    const facts = { method: 'GET', path, websocket: end, duration_ms: durationMs };
    log.info(code === undefined ? facts : { ...facts, code }, REQUEST_MESSAGE);
  }
}

/** Imported for the first WebSocket, because most servers open none. */
async function createServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
}

function readRunId({ url = '' }: IncomingMessage): string {
  return new URLSearchParams(url.slice(SOCKET_PATH.length)).get('run') ?? '';
}

function readKey(text: string): string | undefined {
  try {
    const message: unknown = JSON.parse(text);
    if (!isObject(message)) return undefined;
    const { key = '' } = message;
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}
