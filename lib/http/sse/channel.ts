import type { RunStatus } from '../../../machines/types.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { EventLog } from '../../runs/event-log.js';

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

/** A piece is as large as a reader that has stopped reading may cost, beside what its connection holds. */
const MOST_EVENTS = 256;
const MOST_CHARACTERS = 64 * 1024;

/** What is sent to a reader in one go. */
interface EventPiece {
  /** Number of the event that its reader knew before. */
  readonly after: number;
  /** Number of the last event that its reader knows now. */
  readonly upTo: number;
  readonly bytes: Buffer;
}

/** The events that follow number `after`, and a gap before them where there is one; undefined when there are none. */
function eventPiece(log: EventLog, after: number): EventPiece | undefined {
  const { events, gap } = log.after(after, MOST_EVENTS);
  if (events.length === 0 && !gap) return undefined;
  let text = gap ? gapFrame(after, events[0]?.seq ?? log.last + 1) : '';
  let upTo = log.last;
  for (const event of events) {
    text += eventFrame(event);
    upTo = event.seq;
    if (text.length >= MOST_CHARACTERS) break;
  }
  return { after, upTo, bytes: Buffer.from(text) };
}

/** The words of a stream of Server-Sent Events (D30): each frame is text that ends with an empty line. */

/** How long a client waits before it comes again. */
const RETRY_MS = 1000;

/** Opens a stream. */
export const OPENING = `retry: ${RETRY_MS}\n\n`;

/** Says that both sides are still there. */
export const HEARTBEAT = ': \n\n';

/** Of every event that somebody reads; made once for all who do. */
const frames = new WeakMap<LiveEvent, string>();

/** An event, with its number as `id`: clients give it back as Last-Event-ID. */
function eventFrame(event: LiveEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const frame = `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
  frames.set(event, frame);
  return frame;
}

/** The events between number `after` and number `next` are kept no longer. */
function gapFrame(after: number, next: number): string {
  return `event: gap\ndata: ${JSON.stringify({ after, next })}\n\n`;
}

/** The run has settled, and nothing more will come. */
function endFrame(runId: string, status: RunStatus): string {
  return `event: end\ndata: ${JSON.stringify({ run_id: runId, status })}\n\n`;
}
