/** A sub-pipeline, and those that must succeed before it begins (Plan, rule 1). */
export interface SubPipelineNeeds {
  readonly id: string;
  readonly needs: readonly string[];
  /** Set when it may be skipped: whether it is, is decided when it would begin (D77). */
  readonly isConditional?: boolean;
}

/** Tracks which sub-pipelines may begin: those whose needs are met, in declaration order (D45). */
export class Readiness {
  /** Indexed by rank, the position in declaration order. */
  readonly #ids: readonly string[];
  readonly #unmetCounts: number[];
  readonly #dependents: readonly number[][];
  readonly #rankById: ReadonlyMap<string, number>;
  readonly #conditional: ReadonlySet<string>;
  readonly #ready = new MinHeap();

  /** @param subPipelines in declaration order */
  constructor(subPipelines: readonly SubPipelineNeeds[]) {
    this.#ids = subPipelines.map(({ id }) => id);
    this.#unmetCounts = subPipelines.map(({ needs }) => needs.length);
    this.#dependents = subPipelines.map(() => []);
    this.#rankById = new Map(this.#ids.map((id, rank) => [id, rank]));
    this.#conditional = new Set(subPipelines.filter((each) => each.isConditional).map(({ id }) => id));
    for (const [rank, { needs }] of subPipelines.entries()) {
      for (const need of needs) this.#getDependents(need).push(rank);
      if (needs.length === 0) this.#ready.push(rank);
    }
  }

  /** Removes and returns the first sub-pipeline that is ready. */
  next(): string | undefined {
    const rank = this.#ready.pop();
    return rank === undefined ? undefined : this.#ids[rank];
  }

  isConditional(id: string): boolean {
    return this.#conditional.has(id);
  }

  /** Records that a sub-pipeline succeeded, or was skipped: those that needed nothing else become ready. */
  release(id: string): void {
    for (const rank of this.#getDependents(id)) {
      const unmet = (this.#unmetCounts[rank] ?? 0) - 1;
      this.#unmetCounts[rank] = unmet;
      if (unmet === 0) this.#ready.push(rank);
    }
  }

  #getDependents(id: string): number[] {
    const dependents = this.#dependents[this.#rankById.get(id) ?? -1];
    if (dependents === undefined) throw new Error(`there is no sub-pipeline "${id}" to wait for`);
    return dependents;
  }
}

/** A binary heap of numbers. */
export class MinHeap {
  readonly #heap: number[] = [];

  push(number: number): void {
    let index = this.#heap.push(number) - 1;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex] ?? number;
      if (parent <= number) break;
      this.#heap[index] = parent;
      index = parentIndex;
    }
    this.#heap[index] = number;
  }

  /** Removes and returns the smallest number; undefined when the heap is empty. */
  pop(): number | undefined {
    const smallest = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#siftDown(last);
    return smallest;
  }

  /** Puts a number at the root and moves it down to its position. */
  #siftDown(number: number): void {
    let index = 0;
    let childIndex = this.#smallerChild(index);
    while (childIndex !== undefined) {
      const child = this.#heap[childIndex] ?? number;
      if (child >= number) break;
      this.#heap[index] = child;
      index = childIndex;
      childIndex = this.#smallerChild(index);
    }
    this.#heap[index] = number;
  }

  #smallerChild(parentIndex: number): number | undefined {
    const leftIndex = 2 * parentIndex + 1;
    const [left, right] = [this.#heap[leftIndex], this.#heap[leftIndex + 1]];
    if (left === undefined) return undefined;
    return right !== undefined && right < left ? leftIndex + 1 : leftIndex;
  }
}
