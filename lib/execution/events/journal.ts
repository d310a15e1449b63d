import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import { errorMessage } from '../../common/errors.js';
import type { EventLocation, LiveEvent, TaskEvent } from './event.js';

/** Distributes over the kinds of events, so that each keeps its own fields. */
type Unstamped<E> = E extends unknown ? Omit<E, 'seq' | 'time' | 'run_id'> : never;

/** An event without the fields that the journal adds. */
export type JournalEntry = Unstamped<LiveEvent>;

/**
 * The events of a run, in order (Events, D29). Numbers and stamps every event, collects the task events if requested,
 * and sends all events to its listeners. Creates nothing while nobody observes it.
 */
export class Journal {
  readonly runId: string;
  /** The location of this run within another run; empty for a submitted run. */
  readonly location: EventLocation = {};
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

  /** False when events are neither collected nor listened to, so that writing them is useless. */
  get isObserved(): boolean {
    return this.#collected !== null || this.#listeners.size > 0;
  }

  /** The start, finish and fail events so far; null unless collected. */
  get events(): readonly TaskEvent[] | null {
    return this.#collected;
  }

  /** Subscribes to all events from now on, and returns a function that unsubscribes. */
  subscribe(listener: (event: LiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  write(entry: JournalEntry): void {
    if (!this.isObserved) return;
    const stamp = { seq: ++this.#seq, time: this.#readTime(), run_id: this.runId };
    // Spreading both into a new object takes fifty times as long.
    const event: LiveEvent = Object.assign(stamp, entry);
    if (event.kind === 'start' || event.kind === 'finish' || event.kind === 'fail')
      this.#collected?.push(event);
    for (const listener of this.#listeners) this.#notify(listener, event);
  }

  /** Cached, because many events share a millisecond and formatting it costs more than the rest of an event. */
  #readTime(): string {
    const nowMs = this.#clock.now();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#timeText = new Date(nowMs).toISOString();
    }
    return this.#timeText;
  }

  /** Removes a listener that throws, with a warning: a run must not depend on who observes it. */
  #notify(listener: (event: LiveEvent) => void, event: LiveEvent): void {
    try {
      listener(event);
    } catch (thrown) {
      this.#listeners.delete(listener);
      warnListenerRemoved(`a listener of run ${this.runId}`, thrown);
    }
  }
}

/** Emits a warning of the Node.js process about a listener that threw. */
export function warnListenerRemoved(listener: string, thrown: unknown): void {
  process.emitWarning(`${listener} threw and was removed: ${errorMessage(thrown)}`, 'WavetrainWarning');
}

/** The journal of a run within another run. It writes to the outermost journal and adds its location. */
export class NestedJournal extends Journal {
  /** The whole path, through all outer runs. */
  override readonly location: EventLocation;
  readonly #outermost: Journal;

  constructor(outer: Journal, location: EventLocation, clock: Clock) {
    super(outer.runId, clock, false);
    this.#outermost = outer instanceof NestedJournal ? outer.#outermost : outer;
    const within = [...(outer.location.within ?? []), ...(location.within ?? [])];
    this.location = { ...outer.location, ...location, ...(within.length > 0 && { within }) };
  }

  override get isObserved(): boolean {
    return this.#outermost.isObserved;
  }

  override write(entry: JournalEntry): void {
    if (entry.kind === 'run') this.#writeStatus(entry);
    else this.#outermost.write(Object.assign({}, entry, this.location));
  }

  /** Writes the status of a sub-pipeline only: the end of a nested run must not look like the end of the whole run. */
  #writeStatus(entry: Extract<JournalEntry, { kind: 'run' }>): void {
    const { sub_pipeline: subPipeline, within } = this.location;
    if (subPipeline === undefined || within !== undefined) return;
    this.#outermost.write({ ...entry, kind: 'sub_pipeline', sub_pipeline: subPipeline });
  }
}

/** Writes the events of a run itself: its statuses, and the start and finish of its waves. */
export class LifecycleEvents {
  readonly #journal: Journal;
  readonly #waves: readonly (readonly string[])[];
  #lastStatus: RunStatus | undefined;
  #openWave: number | undefined;

  constructor(journal: Journal, waves: readonly (readonly string[])[]) {
    this.#journal = journal;
    this.#waves = waves;
  }

  /** Writes the status, unless it is the last one written. */
  writeStatus({ status, error }: { readonly status: RunStatus; readonly error: string | null }): void {
    if (!this.#journal.isObserved || status === this.#lastStatus) return;
    this.#lastStatus = status;
    this.#journal.write({ kind: 'run', status, ...(error === null ? {} : { error }) });
  }

  beginWave(wave: number, run: { readonly status: RunStatus; readonly error: string | null }): void {
    if (!this.#journal.isObserved) return;
    this.writeStatus(run);
    this.closeWave();
    this.#openWave = wave;
    this.#writeWave(wave, 'start');
  }

  closeWave(): void {
    if (this.#openWave === undefined) return;
    const wave = this.#openWave;
    this.#openWave = undefined;
    this.#writeWave(wave, 'finish');
  }

  #writeWave(wave: number, phase: 'start' | 'finish'): void {
    this.#journal.write({ kind: 'wave', wave, phase, tasks: this.#waves[wave]?.length ?? 0 });
  }
}
