import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Clock } from '../common/clock.js';
import { RequestError, unexpectedResponse } from './errors.js';

/** @throws RequestError `server_unreachable` for a response that is no stream of events */
export function assertEventStream(response: Response, url: string): void {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return;
  throw unexpectedResponse(response, url);
}

/** The server, or something in between, has ended a stream whose last event has not arrived. */
export function closedTooEarly(url: string): RequestError {
  return new RequestError('server_unreachable', `${url} closed the event stream before its end`);
}

/** Three missed heartbeats: the server sends one every 15 seconds. */
const IDLE_LIMIT_MS = 45_000;

/** Aborts a connection on which nothing arrives any more: a broken connection does not always report an error. */
export class IdleTimeout {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #timer: unknown;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.reset();
  }

  /** Aborted when the connection has been idle too long, or when {@link end} was called. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** To be called whenever something arrives. */
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
export async function* readFrames(
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
