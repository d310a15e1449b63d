import type { RunStatus } from '../../machines/vocabulary.js';
import type { EventLog } from '../runs/event-log.js';
import { endFrame } from './event-frames.js';
import { type EventPiece, eventPiece } from './event-piece.js';

/** A run whose events are read. */
export interface EventSource {
  readonly runId: string;
  readonly log: EventLog;
  /** Undefined when the run was forgotten. */
  readonly status: () => RunStatus | undefined;
}

/** Somebody who writes what is new when told to. */
export interface EventReader {
  pump(): void;
}

/** The log of one run and those who read it: they watch it together, and share what they are sent. */
export class EventChannel {
  readonly streams = new Set<EventReader>();
  readonly #source: EventSource;
  readonly #wake: (channel: EventChannel) => void;
  #unwatch: () => void = () => {};
  #end: string | undefined;
  /** The piece that was made last: most readers stand at the same place. */
  #piece: EventPiece | undefined;

  /** @param wake is called whenever there is more to read */
  constructor(source: EventSource, wake: (channel: EventChannel) => void) {
    this.#source = source;
    this.#wake = wake;
  }

  add(stream: EventReader): void {
    if (this.streams.size === 0) this.#unwatch = this.#source.log.watch(() => this.#told());
    this.streams.add(stream);
  }

  delete(stream: EventReader): void {
    this.streams.delete(stream);
    if (this.streams.size === 0) this.#unwatch();
  }

  /** What a reader that knows the events up to `after` is sent next; undefined when it knows them all. */
  pieceAfter(after: number): EventPiece | undefined {
    if (this.#piece?.after === after) return this.#piece;
    const piece = eventPiece(this.#source.log, after);
    this.#piece = piece ?? this.#piece;
    return piece;
  }

  get isClosed(): boolean {
    return this.#source.log.isClosed;
  }

  /** What a reader is sent when it knows everything of a run that has settled; empty when the run was forgotten. */
  get end(): string {
    this.#end ??= this.#endNow();
    return this.#end;
  }

  #told(): void {
    // A run may be forgotten as soon as it has settled, and its status with it.
    if (this.isClosed) this.#end = this.#endNow();
    this.#wake(this);
  }

  #endNow(): string {
    const { runId, status } = this.#source;
    const now = status();
    return now === undefined ? '' : endFrame(runId, now);
  }
}
