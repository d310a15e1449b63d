interface Link<K, V> {
  readonly key: K;
  /** Undefined once the entry was deleted. */
  value: V | undefined;
  previous: Link<K, V> | undefined;
  next: Link<K, V> | undefined;
}

interface Position<K, V> {
  link: Link<K, V> | undefined;
}

/**
 * A map in insertion order with constant-time `first`: a Map finds its first entry by walking past the slots of deleted
 * ones, which takes longer the more of them there are.
 *
 * It also keeps nothing of the values that were deleted. A Map that has grown old copies its entries from time to time,
 * and V8 keeps what the copy before held, deleted since or not, until the next full garbage collection: of many values
 * that come and go, most would become old garbage. This map leaves only its emptied links there.
 */
export class LinkedMap<K, V> {
  readonly #links = new Map<K, Link<K, V>>();
  #first: Link<K, V> | undefined;
  #last: Link<K, V> | undefined;
  /** Of those that walk backwards now. */
  #positions: Set<Position<K, V>> | undefined;

  get size(): number {
    return this.#links.size;
  }

  /** The value that was added first; undefined when the map is empty. */
  get first(): V | undefined {
    return this.#first?.value;
  }

  get(key: K): V | undefined {
    return this.#links.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#links.has(key);
  }

  /** Appends the value. Returns false, and changes nothing, when the map already contains the key. */
  add(key: K, value: V): boolean {
    if (this.#links.has(key)) return false;
    const link: Link<K, V> = { key, value, previous: this.#last, next: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#links.set(key, link);
    return true;
  }

  /** Removes the value from any position. Returns false when the map does not contain the key. */
  delete(key: K): boolean {
    const link = this.#links.get(key);
    if (link === undefined) return false;
    this.#links.delete(key);
    const { previous, next } = link;
    for (const position of this.#positions ?? []) if (position.link === link) position.link = previous;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    link.value = undefined;
    link.previous = undefined;
    link.next = undefined;
    return true;
  }

  /** The values, from the one that was added last, which may be deleted meanwhile. Walk to the end, or break off. */
  *backwards(): Generator<V, void, undefined> {
    const position: Position<K, V> = { link: this.#last };
    this.#positions ??= new Set();
    this.#positions.add(position);
    try {
      for (let link = position.link; link !== undefined; link = position.link) {
        position.link = link.previous;
        yield link.value as V;
      }
    } finally {
      this.#positions.delete(position);
    }
  }

  /** The values, from the one that was added first. */
  *[Symbol.iterator](): Iterator<V> {
    for (let link = this.#first; link !== undefined; ) {
      const { next } = link;
      yield link.value as V;
      link = next;
    }
  }
}
