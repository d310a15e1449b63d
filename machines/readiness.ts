import { SmallestFirst } from './smallest-first.js';

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
