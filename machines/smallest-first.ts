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
