import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { estimateBytesInSteps } from '../../common/json/json.js';
import { eventLoopOverruns } from '../../common/scheduling/event-loop-overruns.js';
import { fairYield, runInSlices } from '../../common/scheduling/run-in-slices.js';
import type { RouteResult, TextChunks } from '../routing/route.js';
import { SECURITY_HEADERS } from '../security/browser-guard.js';
import type { HttpServices } from '../services.js';
import { CHUNK_LENGTH, isShortJson, JsonWriter } from '../../common/json/json-writer.js';
import { SlowReaders } from './slow-readers.js';

/** The memory that a response of any length takes while it is sent: one chunk, as text and as bytes. */
const STREAM_BYTES = 2 * CHUNK_LENGTH;

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends responses: short ones in one piece, long ones in chunks, each when the connection has accepted the one before.
 * So a response takes little memory besides its value however long it is, and holds the event loop for one chunk at a
 * time. The memory that a response takes counts for the tenant of the caller (D25).
 */
export class ResponseSender {
  readonly #services: HttpServices;
  readonly #readers: SlowReaders;

  constructor(services: HttpServices) {
    this.#services = services;
    this.#readers = new SlowReaders(services);
  }

  /**
   * Resolves when everything was written, or the client has disconnected. Rejects with `memory_full` when there is no
   * memory for a long response, before anything of it was sent.
   *
   * @param type media type of `text` and `bytes`
   */
  async send(
    ctx: Context,
    status: number,
    type: string,
    result: RouteResult,
    tenantId: string,
  ): Promise<void> {
    const { body, isLong, text, bytes, file, headers, stream, chunks, onSent } = result;
    // Koa would make its own response; none of this needs it.
    ctx.respond = false;
    if (onSent) ctx.res.once('finish', onSent);
    const head = new Head(ctx, status, headers, this.#services.readiness.isShuttingDown);
    if (stream !== undefined) {
      head.write();
      if (ctx.method === 'HEAD') ctx.res.end();
      else stream(ctx.res);
    } else if (chunks !== undefined) await this.#sendChunks(head, withCharset(type), chunks, tenantId);
    else if (file !== undefined) await this.#sendFile(head, type, file, tenantId);
    else if (bytes !== undefined) await this.#sendBytes(head, withCharset(type), bytes, tenantId);
    else if (text !== undefined) await this.#sendText(head, withCharset(type), text, tenantId);
    else if (body === undefined) head.write().end();
    else if (isLong !== true && isShortJson(body))
      this.#sendShort(head, JSON_TYPE, JSON.stringify(body), tenantId);
    else await this.#sendLongJson(head, result, body, tenantId);
  }

  /** Most responses: everything in one write. */
  #sendShort(head: Head, type: string, text: string, tenantId: string): void {
    const res = head.write(type, Buffer.byteLength(text));
    if (head.isAlone) return void res.end();
    res.end(text);
    if (res.writableLength > 0) this.#watchUnread(res, tenantId);
  }

  /** Counts what a client has not read yet. Disconnects it when there is no memory for that. */
  #watchUnread(res: ServerResponse, tenantId: string): void {
    const { memory } = this.#services;
    const size = res.writableLength;
    if (!memory.tryReserve(tenantId, size)) return void res.req.socket.destroy();
    this.#readers.watch(res, 'finish', () => memory.release(tenantId, size));
  }

  async #sendText(head: Head, type: string, text: string, tenantId: string): Promise<void> {
    if (text.length <= CHUNK_LENGTH) return this.#sendShort(head, type, text, tenantId);
    const release = this.#reserve(tenantId, 2 * text.length);
    try {
      await this.#sendBytes(head, type, Buffer.from(text), tenantId);
    } finally {
      release();
    }
  }

  /** Takes no memory: the bytes are those of a file, which all responses share, and are not copied. */
  async #sendBytes(head: Head, type: string, bytes: Buffer, tenantId: string): Promise<void> {
    const res = head.write(type, bytes.length);
    let position = 0;
    if (head.isAlone) res.end();
    else await this.#writeAll(res, tenantId, () => bytes.subarray(position, (position += CHUNK_LENGTH)));
  }

  async #sendFile(head: Head, type: string, file: FileHandle, tenantId: string): Promise<void> {
    try {
      const { size } = await file.stat();
      const release = this.#reserve(tenantId, STREAM_BYTES);
      try {
        const res = head.write(type, size);
        const next = async (): Promise<Buffer> => {
          const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_LENGTH), 0, CHUNK_LENGTH);
          return buffer.subarray(0, bytesRead);
        };
        if (head.isAlone) res.end();
        else await this.#writeAll(res, tenantId, next);
      } finally {
        release();
      }
    } finally {
      await file.close();
    }
  }

  async #sendChunks(
    head: Head,
    type: string,
    open: () => Promise<TextChunks>,
    tenantId: string,
  ): Promise<void> {
    if (head.isAlone) return void head.write(type).end();
    const release = this.#reserve(tenantId, STREAM_BYTES);
    try {
      const chunks = await open();
      try {
        await this.#writeAll(head.write(type), tenantId, () => Buffer.from(chunks.next()));
      } finally {
        chunks.close();
      }
    } finally {
      release();
    }
  }

  async #sendLongJson(head: Head, result: RouteResult, body: unknown, tenantId: string): Promise<void> {
    if (head.isAlone) return void head.write(JSON_TYPE).end();
    const release = await this.#hold(result, body, tenantId);
    try {
      // Listing very many keys takes long, and was done in this turn already to see that the response is long.
      await fairYield(tenantId);
      const writer = new JsonWriter(body);
      const next = (): Buffer => Buffer.from(writer.next());
      await this.#writeAll(head.write(JSON_TYPE), tenantId, () =>
        eventLoopOverruns.measure('responses', next),
      );
    } finally {
      release();
    }
  }

  /** Writes chunks until there is an empty one, each when its turn has come and the connection accepts it. */
  async #writeAll(
    res: ServerResponse,
    tenantId: string,
    nextChunk: () => Buffer | Promise<Buffer>,
  ): Promise<void> {
    for (let chunk = await nextChunk(); chunk.length > 0; chunk = await nextChunk()) {
      if (!res.write(chunk)) await this.#untilAccepted(res);
      if (res.destroyed) return;
      await fairYield(tenantId);
    }
    res.end();
  }

  #untilAccepted(res: ServerResponse): Promise<void> {
    return new Promise((resolve) => this.#readers.watch(res, 'drain', resolve));
  }

  /** Keeps the memory of a long response counted until the returned function is called. */
  async #hold({ runId, isRunData }: RouteResult, body: unknown, tenantId: string): Promise<() => void> {
    const { queries } = this.#services;
    const release = isRunData && runId !== undefined ? queries.retain(runId) : undefined;
    if (release === undefined) {
      const bodyBytes = await runInSlices(estimateBytesInSteps(body), tenantId, 'responses');
      return this.#reserve(tenantId, STREAM_BYTES + bodyBytes);
    }
    try {
      const releaseStream = this.#reserve(tenantId, STREAM_BYTES);
      return () => {
        releaseStream();
        release();
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** @throws WavetrainError `memory_full` */
  #reserve(tenantId: string, size: number): () => void {
    const { memory } = this.#services;
    memory.reserve(tenantId, size, 'response');
    return () => memory.release(tenantId, size);
  }
}

/** Names and values in turn, as `writeHead` takes them: faster than an object. */
const SECURITY_HEADER_LIST = Object.entries(SECURITY_HEADERS).flat();

/** The head of a response: status and headers. */
class Head {
  /** Nothing may follow the response to HEAD. */
  readonly isAlone: boolean;
  readonly #res: ServerResponse;
  readonly #status: number;
  readonly #headers: RouteResult['headers'];
  readonly #isLast: boolean;

  constructor({ req, res }: Context, status: number, headers: RouteResult['headers'], isClosing: boolean) {
    this.isAlone = req.method === 'HEAD';
    this.#res = res;
    this.#status = status;
    this.#headers = headers;
    // A connection kept alive would delay the shutdown; the rest of an unread body would be parsed as the next request.
    this.#isLast = isClosing || !req.complete;
  }

  /** Without a length the body is chunked. */
  write(type?: string, length?: number): ServerResponse {
    const head = SECURITY_HEADER_LIST.slice();
    for (const name in this.#headers) setHeader(head, name, this.#headers[name] ?? '');
    if (type !== undefined) head.push('Content-Type', type);
    if (length !== undefined) head.push('Content-Length', String(length));
    if (this.#isLast) head.push('Connection', 'close');
    return this.#res.writeHead(this.#status, head);
  }
}

/** Routes may replace what is sent by default. */
function setHeader(head: string[], name: string, value: string): void {
  const index = head.indexOf(name);
  if (index === -1) head.push(name, value);
  else head[index + 1] = value;
}

function withCharset(mediaType: string): string {
  return mediaType.startsWith('text/') && !mediaType.includes('charset')
    ? `${mediaType}; charset=utf-8`
    : mediaType;
}
