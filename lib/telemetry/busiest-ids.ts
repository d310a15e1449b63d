/** As many ids as have a label of their own. */
const MOST_LABELS = 100;

/** As many other ids are counted, because they may become busier. */
const MOST_CANDIDATES = 1000;

/**
 * Finds the ids that callers use most, with a bounded number of counters, whatever they send: one that is used more often
 * than every thousandth time is never lost (the algorithm of Misra and Gries).
 */
export class BusiestIds {
  #labelled = new Map<string, number>();
  #candidates = new Map<string, number>();

  /** Counts a use of an id. Returns true when the id has a label. */
  count(id: string): boolean {
    const uses = this.#labelled.get(id);
    if (uses !== undefined || this.#labelled.size < MOST_LABELS) {
      this.#labelled.set(id, (uses ?? 0) + 1);
      return true;
    }
    const earlier = this.#candidates.get(id);
    if (earlier !== undefined) this.#candidates.set(id, earlier + 1);
    else if (this.#candidates.size < MOST_CANDIDATES) this.#candidates.set(id, 1);
    else this.#makeRoom();
    return false;
  }

  has(id: string): boolean {
    return this.#labelled.has(id);
  }

  /**
   * Gives the labels to the busiest ids. Of two that are equally busy, the one keeps its label that has it. Earlier uses count
   * half as much from then on.
   */
  rank(): void {
    const ids = [...this.#labelled, ...this.#candidates].sort(([, a], [, b]) => b - a);
    const halved = ids.map(([id, uses]): [string, number] => [id, Math.floor(uses / 2)]);
    this.#labelled = new Map(halved.slice(0, MOST_LABELS));
    this.#candidates = new Map(halved.slice(MOST_LABELS).filter(([, uses]) => uses > 0));
  }

  /** Each candidate that this counts down was counted up before, so that a use takes constant time on average. */
  #makeRoom(): void {
    for (const [id, uses] of this.#candidates) {
      if (uses > 1) this.#candidates.set(id, uses - 1);
      else this.#candidates.delete(id);
    }
  }
}
