import type { Upstream } from '../waves/layering.js';
import type { StoringTask } from './stores.js';

/** How many tasks that might race with a reader are looked at. */
const MOST_CANDIDATES = 20;

/** How many tasks may be walked over in all, so that no definition holds the process. */
const MOST_VISITS = 2_000_000;

/** The tasks that store one session key, in the order of their waves. */
export class KeyStores {
  readonly all: readonly StoringTask[];

  constructor(stores: readonly StoringTask[]) {
    this.all = stores.toSorted((a, b) => a.wave - b.wave);
  }

  /** Some other task stores the key in an earlier wave. */
  isStoredBefore(wave: number, reader: string): boolean {
    const first = this.all.find(({ id }) => id !== reader);
    return first !== undefined && first.wave < wave;
  }

  /** Other tasks that store the key in this wave or later: the first few of them. */
  notBefore(wave: number, reader: string): readonly StoringTask[] {
    const start = this.#indexOf(wave);
    return this.all.slice(start, start + MOST_CANDIDATES).filter(({ id }) => id !== reader);
  }

  #indexOf(wave: number): number {
    let low = 0;
    let high = this.all.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.all[middle]?.wave ?? wave) < wave) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Which tasks run before a task, by templates and `await`, however many lie between. */
export class Ancestors {
  readonly #upstream: Upstream;
  readonly #known = new Map<string, ReadonlySet<string>>();
  #left = MOST_VISITS;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** True as well when finding out would take too long: what is not known is no reason to warn. */
  includes(id: string, ancestor: string): boolean {
    return this.#left <= 0 || this.#of(id).has(ancestor);
  }

  #of(id: string): ReadonlySet<string> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const ancestors = new Set<string>();
    const pending = [...(this.#upstream.get(id) ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (ancestors.has(next)) continue;
      this.#left--;
      ancestors.add(next);
      for (const before of this.#upstream.get(next) ?? []) pending.push(before);
    }
    this.#known.set(id, ancestors);
    return ancestors;
  }
}
