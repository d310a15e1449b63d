/** A sub-pipeline, and those that must have succeeded before it begins (Plan, rule 1). */
export interface Needing {
  readonly id: string;
  readonly needs: readonly string[];
}

/** Which sub-pipelines may begin: those whose needs are met, the first declared first (D45). */
export class Readiness {
  /** By rank, which is the place in declared order. */
  readonly #ids: readonly string[];
  readonly #unmet: number[];
  readonly #followers: readonly number[][];
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #ready = new SmallestFirst();

  /** @param subPipelines in declared order */
  constructor(subPipelines: readonly Needing[]) {
    this.#ids = subPipelines.map(({ id }) => id);
    this.#unmet = subPipelines.map(({ needs }) => needs.length);
    this.#followers = subPipelines.map(() => []);
    this.#ranks = new Map(this.#ids.map((id, rank) => [id, rank]));
    for (const [rank, { needs }] of subPipelines.entries()) {
      for (const need of needs) this.#followersOf(need).push(rank);
      if (needs.length === 0) this.#ready.add(rank);
    }
  }

  /** Takes the first that is ready. */
  next(): string | undefined {
    const rank = this.#ready.take();
    return rank === undefined ? undefined : this.#ids[rank];
  }

  /** One has succeeded: those that needed nothing else are ready. */
  release(id: string): void {
    for (const follower of this.#followersOf(id)) {
      const unmet = (this.#unmet[follower] ?? 0) - 1;
      this.#unmet[follower] = unmet;
      if (unmet === 0) this.#ready.add(follower);
    }
  }

  #followersOf(id: string): number[] {
    const followers = this.#followers[this.#ranks.get(id) ?? -1];
    if (followers === undefined) throw new Error(`there is no sub-pipeline "${id}" to wait for`);
    return followers;
  }
}

/** Numbers of which the smallest is always taken first: a binary heap. */
export class SmallestFirst {
  readonly #heap: number[] = [];

  add(number: number): void {
    let at = this.#heap.push(number) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#heap[parent] ?? number;
      if (above <= number) break;
      this.#heap[at] = above;
      at = parent;
    }
    this.#heap[at] = number;
  }

  /** Undefined when none is left. */
  take(): number | undefined {
    const smallest = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
    return smallest;
  }

  /** Puts a number at the top, and then where it belongs. */
  #sink(number: number): void {
    let at = 0;
    for (let child = this.#smallerChild(at); child !== undefined; child = this.#smallerChild(at)) {
      const below = this.#heap[child] ?? number;
      if (below >= number) break;
      this.#heap[at] = below;
      at = child;
    }
    this.#heap[at] = number;
  }

  #smallerChild(parent: number): number | undefined {
    const left = 2 * parent + 1;
    const [a, b] = [this.#heap[left], this.#heap[left + 1]];
    if (a === undefined) return undefined;
    return b !== undefined && b < a ? left + 1 : left;
  }
}
