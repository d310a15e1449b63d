import type { Clock } from '../common/clock.js';
import type { EventPlace } from './event.js';
import { type Entry, Journal } from './journal.js';

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
