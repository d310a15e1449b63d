interface Link<T> {
  readonly value: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/**
 * Values in the order in which they came, each of them once. To join, to leave from anywhere and to see who is first
 * take the same time however long the line is; a Set would walk past everybody who has left.
 */
export class Line<T> {
  readonly #links = new Map<T, Link<T>>();
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get size(): number {
    return this.#links.size;
  }

  /** Undefined when nobody is in the line. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  /** Joins at the end. False when it stands in the line already, and stays where it is. */
  add(value: T): boolean {
    if (this.#links.has(value)) return false;
    const link: Link<T> = { value, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
    this.#links.set(value, link);
    return true;
  }

  /** False when it was not in the line. */
  delete(value: T): boolean {
    const link = this.#links.get(value);
    if (link === undefined) return false;
    this.#links.delete(value);
    const { before, after } = link;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    // The garbage collector may find this link old before it finds it dead: it must not hold those that came later.
    link.before = undefined;
    link.after = undefined;
    return true;
  }

  /** Everybody, the first first. */
  *[Symbol.iterator](): Iterator<T> {
    for (let link = this.#first; link !== undefined; ) {
      const { after } = link;
      yield link.value;
      link = after;
    }
  }
}
