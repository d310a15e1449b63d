import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Clock } from '../common/clock.js';
import type { LiveEvent } from '../execution/events/event.js';
import { pathOfRun } from './address.js';
import { connectionError, jsonOf, RequestError, strangeAnswer } from './errors.js';
import { pause, retryDelay } from './retry.js';
import type { Transport } from './transport.js';

/** The events between number `after` and number `next` are kept no longer. */
export interface GapNotice {
  readonly kind: 'gap';
  readonly after: number;
  readonly next: number;
}

export type RunEvent = LiveEvent | GapNotice;

export interface EventOptions {
  /** Number of the last event that is known already. Default 0. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Attempts without any word from the server, once it was reached: about half a minute. */
const MOST_FAILURES = 8;

/** Reads the events of one run, over as many connections as it takes: each event once, and in order (D30). */
export class EventFeed {
  readonly #transport: Transport;
  readonly #runId: string;
  readonly #signal: AbortSignal | undefined;
  /** Number of the last event that was handed on. */
  #last: number;
  #wasReached = false;
  /** Attempts since the last word from the server. */
  #failures = 0;

  constructor(transport: Transport, runId: string, { after = 0, signal }: EventOptions) {
    this.#transport = transport;
    this.#runId = runId;
    this.#last = after;
    this.#signal = signal;
  }

  async *events(): AsyncGenerator<RunEvent, void, undefined> {
    for (;;) {
      try {
        if (yield* this.#connection()) return;
        throw new RequestError('server_unreachable', `${this.#transport.base} broke off the events`);
      } catch (thrown) {
        await this.#waitAfter(thrown);
      }
    }
  }

  /** What one connection brings. Returns true when nothing more will come. */
  async *#connection(): AsyncGenerator<RunEvent, boolean, undefined> {
    const silence = new Silence(this.#transport.clock);
    try {
      const response = await this.#open(silence.signal);
      this.#wasReached = true;
      if (response.status === 204 || response.body === null) return true;
      for await (const frame of eventFrames(response.body)) {
        silence.heard();
        this.#failures = 0;
        if (frame === 'beat') continue;
        if (frame.event === 'end') return true;
        const event = this.#eventIn(frame.data, frame.event, response);
        if (event !== undefined) yield event;
      }
      return false;
    } catch (thrown) {
      this.#signal?.throwIfAborted();
      throw thrown instanceof RequestError ? thrown : connectionError(thrown, this.#transport.base);
    } finally {
      silence.end();
    }
  }

  async #open(silence: AbortSignal): Promise<Response> {
    const response = await this.#transport.open({
      method: 'GET',
      path: `${pathOfRun(this.#runId)}/events`,
      headers: {
        accept: 'text/event-stream',
        ...(this.#last > 0 && { 'last-event-id': String(this.#last) }),
      },
      signal: this.#signal === undefined ? silence : AbortSignal.any([this.#signal, silence]),
    });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (response.status === 204 || isStream) return response;
    throw strangeAnswer(response, this.#transport.base);
  }

  /** Undefined for what is known already, and for frames of a kind that this version does not know. */
  #eventIn(text: string, name: string | undefined, { status, headers }: Response): RunEvent | undefined {
    const data = (): unknown => jsonOf({ status, headers, text }, this.#transport.base);
    if (name === 'gap') return this.#gap(data() as Omit<GapNotice, 'kind'>);
    if (name !== undefined) return undefined;
    const event = data() as LiveEvent;
    if (event.seq <= this.#last) return undefined;
    this.#last = event.seq;
    return event;
  }

  #gap({ after, next }: Omit<GapNotice, 'kind'>): GapNotice | undefined {
    if (next - 1 <= this.#last) return undefined;
    // Told once, though the connection may break before the next event.
    this.#last = next - 1;
    return { kind: 'gap', after, next };
  }

  async #waitAfter(thrown: unknown): Promise<void> {
    const most = this.#wasReached ? MOST_FAILURES : this.#transport.retries;
    const delayMs = this.#failures < most ? retryDelay(thrown, this.#failures) : undefined;
    if (delayMs === undefined) throw thrown;
    this.#failures += 1;
    await pause(delayMs, this.#transport.clock, this.#signal);
  }
}

/** The server says something every 15 seconds; who has not heard it three times has lost it. */
const LONGEST_SILENCE_MS = 45_000;

/** Ends a connection on which nothing comes any more: not every one that broke says so. */
class Silence {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #timer: unknown;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.heard();
  }

  /** Given when it has been silent too long, or when {@link end} was called. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something was heard. */
  heard(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => this.#give('nothing was heard of it'), LONGEST_SILENCE_MS);
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#give('nobody listens any more');
  }

  #give(reason: string): void {
    this.#controller.abort(new Error(reason));
  }
}

/** A frame of a stream of Server-Sent Events; `beat` is a comment, which says that both sides are still there. */
type EventFrame = 'beat' | EventSourceMessage;

/** The frames of an answer, as they come. One that was cut off is not among them. */
async function* eventFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<EventFrame> {
  const decoder = new TextDecoder();
  let frames: EventFrame[] = [];
  const parser = createParser({
    onEvent: (message) => void frames.push(message),
    onComment: () => void frames.push('beat'),
  });
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    const ready = frames;
    frames = [];
    yield* ready;
  }
}
