import { delay } from '../common/clock.js';
import type { LiveEvent } from '../execution/events/event.js';
import { parseJsonBody } from './errors.js';
import { closedTooEarly, type ReceivedEvent, receiveEvents } from './event-stream.js';
import { type HttpRequest, runPath } from './http-request.js';
import { retryDelay, type Transport } from './transport.js';

/** The server has dropped the events between the numbers `after` and `next`. */
export interface GapNotice {
  readonly kind: 'gap';
  readonly after: number;
  readonly next: number;
}

/** An event of a run, or a gap between two of them. */
export type StreamedEvent = LiveEvent | GapNotice;

export interface EventOptions {
  /** Number of the last event that the caller has. Default 0. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Maximum number of failed attempts in a row once the server was reached. They take about half a minute. */
export const MAX_FAILURES = 8;

/** Reads the events of one run over as many connections as needed: each event once, and in order (D30). */
export class EventFeed {
  readonly #transport: Transport;
  readonly #runId: string;
  readonly #signal: AbortSignal | undefined;
  /** Number of the last event that was yielded. */
  #last: number;
  #wasReached = false;
  /** Failed attempts since the last frame from the server. */
  #failures = 0;

  constructor(transport: Transport, runId: string, { after = 0, signal }: EventOptions) {
    this.#transport = transport;
    this.#runId = runId;
    this.#last = after;
    this.#signal = signal;
  }

  async *read(): AsyncGenerator<StreamedEvent, void, undefined> {
    for (;;) {
      try {
        if (yield* this.#readConnection()) return;
        throw closedTooEarly(this.#transport.baseUrl);
      } catch (error) {
        await this.#waitForRetry(error);
      }
    }
  }

  /** Yields the events of one connection. Returns true after the last event of the run. */
  async *#readConnection(): AsyncGenerator<StreamedEvent, boolean, undefined> {
    const request: HttpRequest = {
      method: 'GET',
      path: `${runPath(this.#runId)}/events`,
      headers: this.#last > 0 ? { 'last-event-id': String(this.#last) } : {},
      signal: this.#signal,
    };
    for await (const received of receiveEvents(this.#transport, request)) {
      this.#wasReached = true;
      if (received === 'open') continue;
      this.#failures = 0;
      if (received === 'heartbeat') continue;
      if (received.name === 'end') return true;
      const event = this.#parseEvent(received);
      if (event !== undefined) yield event;
    }
    return false;
  }

  /** Returns undefined for events that were yielded before, and for kinds of events that this version does not know. */
  #parseEvent(received: ReceivedEvent): StreamedEvent | undefined {
    const parse = (): unknown => parseJsonBody(received, this.#transport.baseUrl);
    if (received.name === 'gap') return this.#acceptGap(parse() as Omit<GapNotice, 'kind'>);
    if (received.name !== undefined) return undefined;
    const event = parse() as LiveEvent;
    if (event.seq <= this.#last) return undefined;
    this.#last = event.seq;
    return event;
  }

  #acceptGap({ after, next }: Omit<GapNotice, 'kind'>): GapNotice | undefined {
    if (next - 1 <= this.#last) return undefined;
    // Reports the gap once, even if the connection breaks before the next event.
    this.#last = next - 1;
    return { kind: 'gap', after, next };
  }

  async #waitForRetry(error: unknown): Promise<void> {
    const maxFailures = this.#wasReached ? MAX_FAILURES : this.#transport.retries;
    const delayMs = this.#failures < maxFailures ? retryDelay(error, this.#failures) : undefined;
    if (delayMs === undefined) throw error;
    this.#failures += 1;
    await delay(delayMs, { clock: this.#transport.clock, signal: this.#signal });
  }
}
