import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Clock } from '../common/clock.js';
import type { CompileProgress, CompileResult } from '../compile/result.js';
import {
  connectionError,
  type HttpResponse,
  parseJsonBody,
  RequestError,
  toRequestError,
  unexpectedResponse,
} from './errors.js';
import { type HttpRequest, postRequest } from './http-request.js';
import type { CompileRequestOptions } from './requests.js';
import type { Transport } from './transport.js';

/** An event, as the response that it would be alone. */
export interface ReceivedEvent extends HttpResponse {
  readonly name: string | undefined;
}

const STREAM_TYPE = 'text/event-stream';

/**
 * Sends a request for a stream of events, and yields what arrives on one connection. A response without content is the event
 * `end`. Ends the request when the caller leaves the loop. Rejects with a RequestError, also when nothing arrives any more,
 * and with the reason of the signal once it is aborted.
 */
export async function* receiveEvents(
  transport: Transport,
  request: HttpRequest,
): AsyncGenerator<'open' | 'heartbeat' | ReceivedEvent, void, undefined> {
  const { baseUrl, clock } = transport;
  const timeout = new IdleTimeout(clock);
  const signal =
    request.signal === undefined ? timeout.signal : AbortSignal.any([request.signal, timeout.signal]);
  try {
    const headers = { accept: STREAM_TYPE, ...request.headers };
    const response = await transport.open({ ...request, headers, signal });
    yield* readEvents(response, timeout, baseUrl);
  } catch (error) {
    request.signal?.throwIfAborted();
    throw error instanceof RequestError ? error : connectionError(error, baseUrl);
  } finally {
    timeout.end();
  }
}

async function* readEvents(
  { status, headers, body }: Response,
  timeout: IdleTimeout,
  url: string,
): AsyncGenerator<'open' | 'heartbeat' | ReceivedEvent, void, undefined> {
  const isStream = headers.get('content-type')?.startsWith(STREAM_TYPE) === true;
  if (status !== 204 && !isStream) throw unexpectedResponse({ status, headers }, url);
  yield 'open';
  if (status === 204 || body === null) {
    yield { name: 'end', status, headers, text: '' };
    return;
  }
  for await (const frame of readFrames(body)) {
    timeout.reset();
    yield frame === 'heartbeat' ? frame : { name: frame.event, status, headers, text: frame.data };
  }
}

/** The server, or something in between, has ended a stream whose last event has not arrived. */
export function closedTooEarly(url: string): RequestError {
  return new RequestError('server_unreachable', `${url} closed the event stream before its end`);
}

/** Three missed heartbeats: the server sends one every 15 seconds. */
const IDLE_LIMIT_MS = 45_000;

/** Aborts a connection on which nothing arrives any more: a broken connection does not always report an error. */
class IdleTimeout {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #timer: unknown;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.reset();
  }

  /** Aborted when the connection has been idle too long, or when `end` was called. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(
      () => this.#abort(`no data for ${IDLE_LIMIT_MS / 1000} seconds`),
      IDLE_LIMIT_MS,
    );
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#abort('the events are no longer needed');
  }

  #abort(reason: string): void {
    this.#controller.abort(new Error(reason));
  }
}

/** Parses Server-Sent Events as they arrive. Comments are heartbeats; an incomplete last frame is dropped. */
async function* readFrames(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<'heartbeat' | EventSourceMessage> {
  const decoder = new TextDecoder();
  let frames: ('heartbeat' | EventSourceMessage)[] = [];
  const parser = createParser({
    onEvent: (message) => void frames.push(message),
    onComment: () => void frames.push('heartbeat'),
  });
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    const received = frames;
    frames = [];
    yield* received;
  }
}

/**
 * Sends a request to compile, and reads its stream of events: unlike one response at the end, it may take as long as it
 * needs, and a server that has died is noticed.
 *
 * Rejects like a request that was answered at once, also with an error that comes at the end of the stream.
 */
export async function requestCompilation(
  transport: Transport,
  prompt: string,
  { signal, maxRepairs: max_repairs, onProgress, ...options }: CompileRequestOptions,
): Promise<CompileResult> {
  const { baseUrl } = transport;
  const request = postRequest('/pipelines/compile', { prompt, max_repairs, ...options }, { signal });
  for await (const event of receiveEvents(transport, request)) {
    if (typeof event === 'string') continue;
    if (event.name === 'result') return parseJsonBody(event, baseUrl) as CompileResult;
    if (event.name === 'progress') onProgress?.(parseJsonBody(event, baseUrl) as CompileProgress);
    if (event.name === 'error') {
      const { status = 500 } = parseJsonBody(event, baseUrl) as { readonly status?: number };
      throw toRequestError({ ...event, status }, baseUrl, undefined);
    }
  }
  throw closedTooEarly(baseUrl);
}
