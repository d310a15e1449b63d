import type { Clock } from '../clock.js';
import type { EventPlace } from './event.js';
import { type Entry, Journal } from './journal.js';

/** The journal of a run within another: what is written to it stands in the outer one, with its place. */
export class InnerJournal extends Journal {
  override readonly place: EventPlace;
  readonly #outer: Journal;
  readonly #place: EventPlace;

  constructor(outer: Journal, place: EventPlace, clock: Clock) {
    super(outer.runId, clock, false);
    this.#outer = outer;
    this.#place = place;
    const within = [...(outer.place.within ?? []), ...(place.within ?? [])];
    this.place = { ...outer.place, ...place, ...(within.length > 0 && { within }) };
  }

  override get isRead(): boolean {
    return this.#outer.isRead;
  }

  override write(entry: Entry): void {
    const told = this.#told(entry);
    if (told !== undefined) this.#outer.write(told);
  }

  /** The end of a nested run is not the end of the run, and must not be taken for it. */
  #told(entry: Entry): Entry | undefined {
    const { sub_pipeline: subPipeline, within } = this.#place;
    if (entry.kind === 'sub_pipeline') return entry;
    if (entry.kind === 'run') {
      return subPipeline === undefined
        ? undefined
        : { ...entry, kind: 'sub_pipeline', sub_pipeline: subPipeline };
    }
    const whole = within && { within: [...within, ...(entry.within ?? [])] };
    return Object.assign({}, entry, this.#place, whole);
  }
}
