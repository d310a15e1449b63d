import type { ServerResponse } from 'node:http';
import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import type { SlowReaders } from '../responses/slow-readers.js';
import {
  type EventChunk,
  formatEndFrame,
  HEARTBEAT_FRAME,
  OPENING_FRAME,
  readChunk,
  REVOKED_FRAME,
  type NumberedLog,
} from './frames.js';

/** The run whose events are streamed. */
export interface EventSource {
  readonly runId: string;
  readonly tenantId: string;
  readonly log: NumberedLog;
  /** Returns undefined when the run has been deleted. */
  readonly status: () => RunStatus | undefined;
}

/** The event log of one run and its streams, which share one subscription and the chunks they send. */
export class EventChannel {
  readonly streams = new Set<EventStream>();
  readonly #source: EventSource;
  readonly #onNewEvents: (channel: EventChannel) => void;
  #unsubscribe: () => void = () => {};
  #endFrame: string | undefined;
  /** The last chunk: most streams are at the same position. */
  #chunk: EventChunk | undefined;

  constructor(source: EventSource, onNewEvents: (channel: EventChannel) => void) {
    this.#source = source;
    this.#onNewEvents = onNewEvents;
  }

  add(stream: EventStream): void {
    if (this.streams.size === 0) this.#unsubscribe = this.#source.log.subscribe(() => this.#notify());
    this.streams.add(stream);
  }

  delete(stream: EventStream): void {
    this.streams.delete(stream);
    if (this.streams.size === 0) this.#unsubscribe();
  }

  /** Returns the next chunk for a stream that has sent the events up to `after`; undefined when it has sent them all. */
  chunkAfter(after: number): EventChunk | undefined {
    if (this.#chunk?.after === after) return this.#chunk;
    const chunk = readChunk(this.#source.log, after);
    this.#chunk = chunk ?? this.#chunk;
    return chunk;
  }

  get isClosed(): boolean {
    return this.#source.log.isClosed;
  }

  /** The last frame of a stream, after all events of a settled run; empty when the run was deleted. */
  get endFrame(): string {
    this.#endFrame ??= this.#createEndFrame();
    return this.#endFrame;
  }

  #notify(): void {
    // A run may be deleted as soon as it has settled, and its status with it.
    if (this.isClosed) this.#endFrame = this.#createEndFrame();
    this.#onNewEvents(this);
  }

  #createEndFrame(): string {
    const { runId, status } = this.#source;
    const current = status();
    return current === undefined ? '' : formatEndFrame(runId, current);
  }
}

/** The services that all streams of a server share. */
export interface StreamServices {
  readonly clock: Clock;
  readonly readers: SlowReaders;
  /** Called when a connection accepts more again. */
  readonly onWritable: (stream: EventStream) => void;
}

/** Interval of heartbeats: proxies and clients close a connection that is silent for too long. */
export const HEARTBEAT_MS = 15_000;

/**
 * One reader of events (D30): a position in the log, and a connection. It writes as much as the connection accepts, so
 * a client that stops reading costs the buffer of its connection and one chunk, and is disconnected after a while.
 */
export class EventStream {
  readonly #channel: EventChannel;
  readonly #response: ServerResponse;
  readonly #services: StreamServices;
  /** Number of the last event that was written. */
  #last: number;
  /** The connection accepts no more for now. */
  #isBlocked = false;
  #isStopped = false;
  #heartbeat: unknown;

  constructor(channel: EventChannel, after: number, response: ServerResponse, services: StreamServices) {
    this.#channel = channel;
    this.#last = after;
    this.#response = response;
    this.#services = services;
  }

  start(): void {
    this.#write(OPENING_FRAME);
    this.#scheduleHeartbeat();
    this.flush();
  }

  /** Writes new events, as many as the connection accepts. */
  flush(): void {
    while (!this.#isBlocked && !this.#isStopped) {
      const chunk = this.#channel.chunkAfter(this.#last);
      if (chunk === undefined) {
        if (this.#channel.isClosed) this.#end();
        return;
      }
      this.#last = chunk.last;
      this.#write(chunk.bytes);
    }
  }

  /** To be called when the client has disconnected. */
  stop(): void {
    this.#isStopped = true;
    this.#services.clock.clearTimeout(this.#heartbeat);
  }

  #write(text: string | Buffer): void {
    const { socket } = this.#response;
    // Writes at once and not at the end of the tick, so that the time budget of the streams includes it.
    socket?.cork();
    this.#isBlocked = !this.#response.write(text);
    socket?.uncork();
    if (!this.#isBlocked) return;
    this.#services.readers.watch(this.#response, 'drain', () => {
      this.#isBlocked = false;
      if (!this.#isStopped) this.#services.onWritable(this);
    });
  }

  /** Ends the stream because the key of its reader was revoked. */
  revoke(): void {
    if (!this.#isStopped) this.#end(REVOKED_FRAME);
  }

  #end(frame = this.#channel.endFrame): void {
    this.stop();
    this.#response.end(frame);
    if (this.#response.writableLength > 0)
      this.#services.readers.watch(this.#response, 'finish', () => undefined);
  }

  #scheduleHeartbeat(): void {
    this.#heartbeat = this.#services.clock.setTimeout(() => {
      if (!this.#isBlocked) this.#write(HEARTBEAT_FRAME);
      this.#scheduleHeartbeat();
    }, HEARTBEAT_MS);
  }
}
