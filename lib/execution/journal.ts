import type { Clock } from '../common/clock.js';
import { messageOf } from '../common/errors.js';
import type { EventPlace, LiveEvent, TaskEvent } from './event.js';

/** Events without what the journal adds. Distributes over the kinds, so that each keeps its own fields. */
type Unstamped<E> = E extends unknown ? Omit<E, 'seq' | 'time' | 'run_id'> : never;
export type Entry = Unstamped<LiveEvent>;

/**
 * What happened in a run, in order (Events, D29): numbers and stamps every event, keeps the task events when asked
 * to collect, and hands all to those who listen. When nobody wants to know, nothing is made.
 */
export class Journal {
  readonly runId: string;
  /** Where its run stands within another: nowhere. */
  readonly place: EventPlace = {};
  readonly #clock: Clock;
  readonly #collected: TaskEvent[] | null;
  readonly #listeners = new Set<(event: LiveEvent) => void>();
  #seq = 0;
  #timeMs = Number.NaN;
  #timeText = '';

  constructor(runId: string, clock: Clock, collect: boolean) {
    this.runId = runId;
    this.#clock = clock;
    this.#collected = collect ? [] : null;
  }

  /** False: writing would be for nobody. */
  get isRead(): boolean {
    return this.#collected !== null || this.#listeners.size > 0;
  }

  /** Start, finish and fail of every task so far; null unless collected. */
  get events(): readonly TaskEvent[] | null {
    return this.#collected;
  }

  write(entry: Entry): void {
    if (!this.isRead) return;
    const stamp = { seq: ++this.#seq, time: this.#time(), run_id: this.runId };
    // Spreading both into a new object takes fifty times as long.
    const event: LiveEvent = Object.assign(stamp, entry);
    if (isTaskEvent(event)) this.#collected?.push(event);
    for (const listener of this.#listeners) this.#tell(listener, event);
  }

  /** A listener that throws is let go with a warning: a run must not depend on who watches it. */
  #tell(listener: (event: LiveEvent) => void, event: LiveEvent): void {
    try {
      listener(event);
    } catch (thrown) {
      this.#listeners.delete(listener);
      warnOfListener(`a listener of run ${this.runId}`, thrown);
    }
  }

  /** Making the text costs more than the rest of an event, and many events share a millisecond. */
  #time(): string {
    const nowMs = this.#clock.now();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#timeText = new Date(nowMs).toISOString();
    }
    return this.#timeText;
  }

  /** Listens to all events from now on. */
  listen(listener: (event: LiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Tells the host of somebody who threw while listening, and was let go for it. */
export function warnOfListener(who: string, thrown: unknown): void {
  process.emitWarning(`${who} threw and hears no more: ${messageOf(thrown)}`, 'WavetrainWarning');
}

function isTaskEvent(event: LiveEvent): event is TaskEvent {
  return event.kind === 'start' || event.kind === 'finish' || event.kind === 'fail';
}
