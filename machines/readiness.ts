import { SmallestFirst } from './smallest-first.js';

/** A sub-pipeline, and those that must have succeeded before it begins (Plan, rule 1). */
export interface Placed {
  readonly id: string;
  readonly needs: readonly string[];
}

/** Which sub-pipelines may begin: those whose needs are met, the first declared first (D45). */
export class Readiness {
  readonly #ids: readonly string[];
  readonly #place = new Map<string, number>();
  readonly #unmet = new Map<string, number>();
  readonly #followers = new Map<string, string[]>();
  /** Places in declared order of those that are ready. */
  readonly #ready = new SmallestFirst();

  /** @param subPipelines in declared order */
  constructor(subPipelines: readonly Placed[]) {
    this.#ids = subPipelines.map(({ id }) => id);
    for (const [place, { id, needs }] of subPipelines.entries()) {
      this.#place.set(id, place);
      this.#unmet.set(id, needs.length);
      for (const need of needs) this.#followersOf(need).push(id);
    }
    for (const { id, needs } of subPipelines) if (needs.length === 0) this.#add(id);
  }

  /** Takes the first that is ready. */
  next(): string | undefined {
    const place = this.#ready.take();
    return place === undefined ? undefined : this.#ids[place];
  }

  /** One has succeeded: those that needed nothing else are ready. */
  release(id: string): void {
    for (const follower of this.#followers.get(id) ?? []) {
      const unmet = (this.#unmet.get(follower) ?? 0) - 1;
      this.#unmet.set(follower, unmet);
      if (unmet === 0) this.#add(follower);
    }
  }

  #followersOf(id: string): string[] {
    const known = this.#followers.get(id);
    if (known !== undefined) return known;
    const followers: string[] = [];
    this.#followers.set(id, followers);
    return followers;
  }

  #add(id: string): void {
    this.#ready.add(this.#place.get(id) ?? 0);
  }
}
