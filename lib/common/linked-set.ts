interface Link<T> {
  readonly value: T;
  previous: Link<T> | undefined;
  next: Link<T> | undefined;
}

/**
 * A set in insertion order with constant-time `add`, `delete` and `first`. A Set finds its first value by walking past
 * the slots of deleted ones, which takes longer the more of them there are.
 */
export class LinkedSet<T> {
  readonly #links = new Map<T, Link<T>>();
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get size(): number {
    return this.#links.size;
  }

  /** The value that was added first; undefined when the set is empty. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  /** Appends the value. Returns false, and keeps its position, when the set already contains it. */
  add(value: T): boolean {
    if (this.#links.has(value)) return false;
    const link: Link<T> = { value, previous: this.#last, next: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#links.set(value, link);
    return true;
  }

  /** Removes the value from any position. Returns false when the set does not contain it. */
  delete(value: T): boolean {
    const link = this.#links.get(value);
    if (link === undefined) return false;
    this.#links.delete(value);
    const { previous, next } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A deleted link that the garbage collector has promoted would keep the links beside it alive.
    link.previous = undefined;
    link.next = undefined;
    return true;
  }

  /** Iterates from the value that was added last. */
  *backwards(): Generator<T, void, undefined> {
    for (let link = this.#last; link !== undefined; link = link.previous) yield link.value;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let link = this.#first; link !== undefined; ) {
      const { next } = link;
      yield link.value;
      link = next;
    }
  }
}
