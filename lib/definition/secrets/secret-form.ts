/**
 * One form of a secret, which is compared with a text at one position after another. Characters once found equal are
 * not looked at again: all comparisons with a text take a time that is linear in its length, also when the text nearly
 * is the secret, or overlaps itself, everywhere (the algorithm of Main and Lorentz).
 */
export class SecretForm {
  readonly text: string;
  /** The last search; the positions below are of its text. */
  #search = -1;
  /** The text between these positions is how the form begins. */
  #from = 0;
  #to = 0;
  /** See {@link measureRepetitions}; computed when a text repeats itself. */
  #repetitions: Uint32Array | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Returns true if the form stands in a text at a position. A search has its own number, and goes forward only. */
  isAt(text: string, at: number, search: number): boolean {
    if (search !== this.#search) {
      this.#search = search;
      this.#from = 0;
      this.#to = 0;
    }
    let length = 0;
    if (at < this.#to) {
      const known = this.#to - at;
      this.#repetitions ??= measureRepetitions(this.text);
      if ((this.#repetitions[at - this.#from] ?? 0) < known) return false;
      length = known;
    }
    const { text: form } = this;
    while (length < form.length && form.charCodeAt(length) === text.charCodeAt(at + length)) length++;
    this.#from = at;
    this.#to = at + length;
    return length === form.length;
  }
}

/** By position in a text, how many characters from there on are those with which the text begins (the function Z). */
function measureRepetitions(text: string): Uint32Array {
  const repetitions = new Uint32Array(text.length);
  let [from, to] = [0, 0];
  for (let at = 1; at < text.length; at++) {
    let length = at < to ? Math.min(to - at, repetitions[at - from] ?? 0) : 0;
    while (at + length < text.length && text.charCodeAt(length) === text.charCodeAt(at + length)) length++;
    if (at + length > to) [from, to] = [at, at + length];
    repetitions[at] = length;
  }
  return repetitions;
}

/** The length of the longest beginning of `second` with which `first` ends, in linear time (that of Knuth, Morris and Pratt). */
export function measureOverlap(first: string, second: string): number {
  const borders = new Uint32Array(second.length);
  let length = 0;
  for (let at = 1; at < second.length; at++) {
    while (length > 0 && second.charCodeAt(at) !== second.charCodeAt(length))
      length = borders[length - 1] ?? 0;
    if (second.charCodeAt(at) === second.charCodeAt(length)) length++;
    borders[at] = length;
  }
  length = 0;
  for (let at = 0; at < first.length; at++) {
    if (length === second.length) length = borders[length - 1] ?? 0;
    while (length > 0 && first.charCodeAt(at) !== second.charCodeAt(length))
      length = borders[length - 1] ?? 0;
    if (first.charCodeAt(at) === second.charCodeAt(length)) length++;
  }
  return length;
}
