/**
 * Identifies a JSON value by 64 bits, whatever the order of the keys in its objects (D36). One pass, without sorting,
 * takes no longer than parsing did; the factors and shifts are those of MurmurHash3. It distinguishes the requests of
 * one tenant and guards no secret, so it need not be cryptographic.
 *
 * @param kind of the request; two of different kinds differ
 */
export function createFingerprint(kind: string, value: unknown): string {
  const hash = new ValueHash();
  hash.addText(kind);
  hash.add(value);
  return `${hash.high >>> 0}.${hash.low >>> 0}`;
}

/** Distinguish values of different kinds, such as `[]`, `{}`, `""` and `null`. */
const [NULL, TRUE, FALSE, NUMBER, TEXT, LIST, OBJECT] = [1, 2, 3, 4, 5, 6, 7] as const;

/** A hash of values in their order, as two numbers of 32 bits. */
class ValueHash {
  high = 1;
  low = 2;

  add(value: unknown): void {
    if (typeof value === 'string') this.addText(value);
    else if (typeof value === 'number') {
      this.#mix(NUMBER);
      this.addText(String(value));
    } else if (typeof value === 'boolean') this.#mix(value ? TRUE : FALSE);
    else if (typeof value !== 'object' || value === null) this.#mix(NULL);
    else if (Array.isArray(value)) this.#addList(value);
    else this.#addObject(value as Record<string, unknown>);
  }

  addText(text: string): void {
    this.#mix(TEXT);
    this.#mix(text.length);
    for (let i = 0; i < text.length; i++) this.#mix(text.charCodeAt(i));
  }

  #addList(list: readonly unknown[]): void {
    this.#mix(LIST);
    this.#mix(list.length);
    for (const item of list) this.add(item);
  }

  /** Adds the sum of the hashes of its members, which does not depend on their order. */
  #addObject(object: Record<string, unknown>): void {
    let [high, low] = [0, 0];
    for (const key of Object.keys(object)) {
      const member = new ValueHash();
      member.addText(key);
      member.add(object[key]);
      high = (high + scatter(member.high)) | 0;
      low = (low + scatter(member.low)) | 0;
    }
    this.#mix(OBJECT);
    this.#mix(high);
    this.#mix(low);
  }

  #mix(word: number): void {
    const high = Math.imul(this.high ^ word, 0xcc9e2d51);
    this.high = (high << 15) | (high >>> 17);
    const low = Math.imul(this.low ^ word ^ this.high, 0x1b873593);
    this.low = (low << 13) | (low >>> 19);
  }
}

/** Lets every bit depend on every other one, or the sums of similar members could be equal. */
function scatter(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return second ^ (second >>> 16);
}
