import type { ServerResponse } from 'node:http';
import type { Clock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import type { EventLog } from '../../runs/event-log.js';
import { EventChannel, type EventReader, type EventSource } from './channel.js';
import { EventStream } from './stream.js';

/** From the first event until readers are served: what happens meanwhile is written in one go. */
export const SERVING_DELAY_MS = 20;

/** How long readers may hold the event loop in one turn, all of them together: runs keep most of it. */
const TURN_MS = 1;

/** Open streams of one server. */
const MOST_STREAMS = 5000;

/** All streams of events that a server has open, served together: one timer, and one budget of time. */
export class EventStreams {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #channels = new Map<EventLog, EventChannel>();
  /** Those with something new. */
  readonly #due = new Set<EventChannel>();
  #size = 0;
  /** Those who may have something to write, in the order in which they are served. */
  readonly #ready = new Set<EventReader>();
  #isServing = false;
  #timer: unknown;

  /** @param most how many may be open at once */
  constructor(clock: Clock, most = MOST_STREAMS) {
    this.#clock = clock;
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * To be asked before one is opened.
   *
   * @throws WavetrainError `too_many_streams`
   */
  check(): void {
    if (this.#size < this.#most) return;
    throw new WavetrainError('too_many_streams', `${this.#size} event streams are open already`, {
      fault: 'service',
    });
  }

  /** Sends the events after number `after` as they come, until the run has settled or the reader has gone. */
  open(source: EventSource, after: number, response: ServerResponse): void {
    if (response.destroyed) return;
    const channel = this.#channelOf(source);
    const stream = new EventStream(channel, after, response, this.#clock, (one) => this.#serveLater(one));
    this.#size++;
    channel.add(stream);
    response.once('close', () => {
      this.#size--;
      stream.stop();
      channel.delete(stream);
      this.#ready.delete(stream);
      if (channel.streams.size === 0) this.#close(source.log, channel);
    });
    stream.begin();
  }

  #channelOf(source: EventSource): EventChannel {
    const known = this.#channels.get(source.log);
    if (known !== undefined) return known;
    const channel = new EventChannel(source, (one) => this.#wake(one));
    this.#channels.set(source.log, channel);
    return channel;
  }

  #close(log: EventLog, channel: EventChannel): void {
    this.#channels.delete(log);
    this.#due.delete(channel);
    if (this.#due.size > 0) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wake(channel: EventChannel): void {
    this.#due.add(channel);
    this.#timer ??= this.#clock.setTimeout(() => this.#gather(), SERVING_DELAY_MS);
  }

  #gather(): void {
    this.#timer = undefined;
    for (const { streams } of this.#due) for (const stream of streams) this.#ready.add(stream);
    this.#due.clear();
    if (!this.#isServing) this.#serve();
  }

  #serveLater(stream: EventReader): void {
    this.#ready.add(stream);
    if (!this.#isServing) this.#nextTurn();
  }

  #serve(): void {
    this.#isServing = false;
    const began = this.#clock.now();
    for (const stream of this.#ready) {
      if (this.#clock.now() - began >= TURN_MS) return this.#nextTurn();
      this.#ready.delete(stream);
      stream.pump();
    }
  }

  #nextTurn(): void {
    this.#isServing = true;
    setImmediate(() => this.#serve());
  }
}
