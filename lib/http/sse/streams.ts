import type { ServerResponse } from 'node:http';
import type { Clock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import type { EventLog } from '../../runs/event-log.js';
import { EventChannel, type EventSource, EventStream } from './stream.js';

/** Delay from a new event until the streams are flushed: events that follow in the meantime are written with it. */
export const FLUSH_DELAY_MS = 20;

/** How long all streams together may hold the event loop per tick, so that most of it stays with the runs. */
const FLUSH_BUDGET_MS = 1;

const MAX_STREAMS = 5000;

/** All open event streams of a server. They share one timer and one time budget. */
export class EventStreams {
  readonly #clock: Clock;
  readonly #maxStreams: number;
  readonly #channels = new Map<EventLog, EventChannel>();
  /** Channels with new events. */
  readonly #pendingChannels = new Set<EventChannel>();
  /** Streams that may have something to write, in the order in which they are flushed. */
  readonly #pendingStreams = new Set<EventStream>();
  #size = 0;
  #isFlushScheduled = false;
  #timer: unknown;

  constructor(clock: Clock, maxStreams = MAX_STREAMS) {
    this.#clock = clock;
    this.#maxStreams = maxStreams;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * To be called before {@link open}.
   *
   * @throws WavetrainError `too_many_streams`
   */
  assertCapacity(): void {
    if (this.#size < this.#maxStreams) return;
    throw new WavetrainError('too_many_streams', `${this.#size} event streams are open already`, {
      fault: 'service',
    });
  }

  /** Streams the events after number `after` until the run has settled or the client disconnects. */
  open(source: EventSource, after: number, response: ServerResponse): void {
    if (response.destroyed) return;
    const channel = this.#getChannel(source);
    const stream = new EventStream(channel, after, response, this.#clock, (writable) => {
      this.#pendingStreams.add(writable);
      this.#scheduleFlush();
    });
    this.#size++;
    channel.add(stream);
    response.once('close', () => {
      this.#size--;
      stream.stop();
      channel.delete(stream);
      this.#pendingStreams.delete(stream);
      if (channel.streams.size === 0) this.#close(source.log, channel);
    });
    stream.start();
  }

  #getChannel(source: EventSource): EventChannel {
    let channel = this.#channels.get(source.log);
    if (channel === undefined) {
      channel = new EventChannel(source, (changed) => this.#onNewEvents(changed));
      this.#channels.set(source.log, channel);
    }
    return channel;
  }

  #close(log: EventLog, channel: EventChannel): void {
    this.#channels.delete(log);
    this.#pendingChannels.delete(channel);
    if (this.#pendingChannels.size > 0) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #onNewEvents(channel: EventChannel): void {
    this.#pendingChannels.add(channel);
    this.#timer ??= this.#clock.setTimeout(() => this.#flushChannels(), FLUSH_DELAY_MS);
  }

  #flushChannels(): void {
    this.#timer = undefined;
    for (const { streams } of this.#pendingChannels) {
      for (const stream of streams) this.#pendingStreams.add(stream);
    }
    this.#pendingChannels.clear();
    if (!this.#isFlushScheduled) this.#flush();
  }

  /** Flushes streams until the budget is used up, and the rest in the next tick. */
  #flush(): void {
    this.#isFlushScheduled = false;
    const start = this.#clock.now();
    for (const stream of this.#pendingStreams) {
      if (this.#clock.now() - start >= FLUSH_BUDGET_MS) return this.#scheduleFlush();
      this.#pendingStreams.delete(stream);
      stream.flush();
    }
  }

  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => this.#flush());
  }
}
