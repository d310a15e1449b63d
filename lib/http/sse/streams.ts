import { inNextTurn } from '../../common/scheduling/turns.js';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import { type Limit, SharedLimit } from '../../common/memory/shared-limit.js';
import { SlowReaders } from '../responses/slow-readers.js';
import type { Revocation } from '../auth/revocation.js';
import type { HttpServices } from '../services.js';
import type { NumberedLog } from './frames.js';
import { EventChannel, type EventSource, EventStream, type StreamServices } from './stream.js';

/** Delay from a new event until the streams are flushed: events that follow in the meantime are written with it. */
export const FLUSH_DELAY_MS = 20;

/** How long all streams together may hold the event loop per tick, so that most of it stays with the runs. */
const FLUSH_BUDGET_MS = 1;

/** All open event streams of a server. They share one timer and one time budget; tenants share their number (D25). */
export class EventStreams {
  readonly #clock: Clock;
  readonly #streamServices: StreamServices;
  readonly #limit: SharedLimit;
  readonly #channels = new Map<NumberedLog, EventChannel>();
  /** Channels with new events. */
  readonly #pendingChannels = new Set<EventChannel>();
  /** Streams that may have something to write, in the order in which they are flushed. */
  readonly #pendingStreams = new Set<EventStream>();
  #isFlushScheduled = false;
  #timer: unknown;

  constructor(services: Pick<HttpServices, 'clock' | 'log'>, limit: Limit) {
    this.#clock = services.clock;
    this.#streamServices = {
      clock: services.clock,
      readers: new SlowReaders(services),
      onWritable: (stream) => {
        this.#pendingStreams.add(stream);
        this.#scheduleFlush();
      },
    };
    this.#limit = new SharedLimit(limit);
  }

  get size(): number {
    return this.#limit.used;
  }

  /** To be called before {@link open}. @throws WavetrainError `too_many_streams` */
  assertCapacity(tenantId: string): void {
    if (this.#limit.hasRoom(tenantId)) return;
    const own = this.#limit.usedBy(tenantId);
    const message =
      `${this.size} event streams are open already, ${own} of them of runs of "${tenantId}": ` +
      'close some, or poll the record';
    throw new WavetrainError('too_many_streams', message, { fault: 'service' });
  }

  /** Counts a download as a stream until the returned function is called. @throws WavetrainError `too_many_streams` */
  acquire(tenantId: string): () => void {
    this.assertCapacity(tenantId);
    this.#limit.tryAcquire(tenantId);
    return () => this.#limit.release(tenantId);
  }

  /**
   * Streams the events after number `after` until the run has settled, the client disconnects, or its key is revoked.
   *
   * @param revocation of the key of the client, if it has one
   */
  open(source: EventSource, after: number, response: ServerResponse, revocation?: Revocation): void {
    if (response.destroyed) return;
    const { tenantId } = source;
    if (!this.#limit.tryAcquire(tenantId)) return void response.destroy();
    const channel = this.#getChannel(source);
    const stream = new EventStream(channel, after, response, this.#streamServices);
    channel.add(stream);
    response.once('close', () => {
      this.#limit.release(tenantId);
      stream.stop();
      channel.delete(stream);
      this.#pendingStreams.delete(stream);
      if (channel.streams.size === 0) this.#close(source.log, channel);
    });
    stream.start();
    revocation?.whileOpen(response, () => stream.revoke());
  }

  #getChannel(source: EventSource): EventChannel {
    let channel = this.#channels.get(source.log);
    if (channel === undefined) {
      channel = new EventChannel(source, (changed) => this.#onNewEvents(changed));
      this.#channels.set(source.log, channel);
    }
    return channel;
  }

  #close(log: NumberedLog, channel: EventChannel): void {
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
    const start = this.#clock.monotonicNow();
    for (const stream of this.#pendingStreams) {
      if (this.#clock.monotonicNow() - start >= FLUSH_BUDGET_MS) return this.#scheduleFlush();
      this.#pendingStreams.delete(stream);
      stream.flush();
    }
  }

  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    inNextTurn(() => this.#flush());
  }
}
