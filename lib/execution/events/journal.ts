import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import { messageOf } from '../../common/errors.js';
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

/** The journal of a run within another: what is written to it stands in that of the outermost, with its place. */
export class InnerJournal extends Journal {
  /** Whole: through all runs around it. */
  override readonly place: EventPlace;
  readonly #outermost: Journal;

  constructor(outer: Journal, place: EventPlace, clock: Clock) {
    super(outer.runId, clock, false);
    this.#outermost = outer instanceof InnerJournal ? outer.#outermost : outer;
    const within = [...(outer.place.within ?? []), ...(place.within ?? [])];
    this.place = { ...outer.place, ...place, ...(within.length > 0 && { within }) };
  }

  override get isRead(): boolean {
    return this.#outermost.isRead;
  }

  override write(entry: Entry): void {
    if (entry.kind === 'run') this.#tellStatus(entry);
    else this.#outermost.write(Object.assign({}, entry, this.place));
  }

  /** The end of a run within is not the end of the whole, and must not be taken for it: only a sub-pipeline's is told. */
  #tellStatus(entry: Extract<Entry, { kind: 'run' }>): void {
    const { sub_pipeline: subPipeline, within } = this.place;
    if (subPipeline === undefined || within !== undefined) return;
    this.#outermost.write({ ...entry, kind: 'sub_pipeline', sub_pipeline: subPipeline });
  }
}

/** What is told of a run itself: that it came to a status, that a wave began and settled. */
export class RunNotes {
  readonly #journal: Journal;
  readonly #waves: readonly (readonly string[])[];
  #told: RunStatus | undefined;
  #openWave: number | undefined;

  constructor(journal: Journal, waves: readonly (readonly string[])[]) {
    this.#journal = journal;
    this.#waves = waves;
  }

  /** Tells it, unless it was told before. */
  status({ status, error }: { readonly status: RunStatus; readonly error: string | null }): void {
    if (!this.#journal.isRead || status === this.#told) return;
    this.#told = status;
    this.#journal.write({ kind: 'run', status, ...(error === null ? {} : { error }) });
  }

  beginWave(wave: number, run: { readonly status: RunStatus; readonly error: string | null }): void {
    if (!this.#journal.isRead) return;
    this.status(run);
    this.closeWave();
    this.#openWave = wave;
    this.#write(wave, 'start');
  }

  closeWave(): void {
    if (this.#openWave === undefined) return;
    const wave = this.#openWave;
    this.#openWave = undefined;
    this.#write(wave, 'finish');
  }

  #write(wave: number, phase: 'start' | 'finish'): void {
    this.#journal.write({ kind: 'wave', wave, phase, tasks: this.#waves[wave]?.length ?? 0 });
  }
}
