import { toneOf } from '../../shared/model/tones.js';

/** The parts of an entry that say where it belongs. */
interface IndexedEntry {
  readonly seq: number;
  readonly actor: string;
  readonly from: string | null;
  readonly state: string;
}

/**
 * Where in the timeline the events of each actor are, and those at which an actor failed: as numbers of entries in
 * their order. It is kept up entry by entry, so that nobody walks through the timeline to find them.
 */
export class EventIndex {
  /** Entries at which an actor has failed. */
  readonly failed: number[] = [];
  readonly #byActor = new Map<string, number[]>();

  /** Entries of an actor. */
  of(actor: string): readonly number[] {
    return this.#byActor.get(actor) ?? [];
  }

  add({ seq, actor, from, state }: IndexedEntry): void {
    const known = this.#byActor.get(actor);
    if (known) known.push(seq);
    else this.#byActor.set(actor, [seq]);
    if (from !== state && toneOf(state) === 'failed') this.failed.push(seq);
  }

  /** Forgets entries, which are the oldest. */
  drop(dropped: readonly Pick<IndexedEntry, 'seq' | 'actor'>[]): void {
    const last = dropped.at(-1)?.seq ?? 0;
    for (const actor of new Set(dropped.map((entry) => entry.actor))) {
      const seqs = this.#byActor.get(actor) ?? [];
      seqs.splice(0, findFrom(seqs, last + 1));
      if (seqs.length === 0) this.#byActor.delete(actor);
    }
    this.failed.splice(0, findFrom(this.failed, last + 1));
  }
}

/** Returns the index of the first number that is at least `least`, or the length; the numbers ascend. */
export function findFrom(numbers: readonly number[], least: number, from = 0): number {
  let low = from;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Lists which of `places` parts of the way from `first` to `last` have an entry, from 0 on. It looks at each part, not
 * at each entry.
 */
export function listTicks(seqs: readonly number[], first: number, last: number, places: number): number[] {
  const width = Math.max(1, last - first) / (places - 1);
  const ticks: number[] = [];
  for (let index = findFrom(seqs, first); index < seqs.length; ) {
    const place = Math.floor(((seqs[index] ?? first) - first) / width);
    ticks.push(place);
    index = findFrom(seqs, first + (place + 1) * width, index + 1);
  }
  return ticks;
}
