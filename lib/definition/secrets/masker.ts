import { encodeSecret, MIN_SECRET_LENGTH } from './encodings.js';
import { measureOverlap, SecretForm } from './secret-form.js';

/** Stands in place of a secret. */
export const MASK = '***';

/** Characters that are looked at together. */
const BLOCK = 3;

const TABLE_SIZE = 8192;

/** Longer steps would skip no more texts. */
const MAX_STEP = 255;

/** The mark where a message was cut: by this program, or by Node.js. */
const CUT = /…|\.\.\./;
const CUT_MARKS = /(…|\.\.\.)/;

/** Longer texts, and those with more marks, are no messages. */
const MAX_CUT_LENGTH = 16 * 1024;
const MAX_CUTS = 50;

/** A shorter part of a secret says nothing. */
const MIN_PART = 3;

/** A secret that may be the text of a number. */
const NUMERIC = /^[-+.\dEe]+$/;

/** Masks a text, and knows how much of a text must be there to recognise a secret in it. */
export type LineMasker = Pick<Masker, 'mask' | 'find' | 'longest' | 'longestWithBreak'>;

/**
 * Replaces secrets in texts by `***`, also in the encodings of {@link encodeSecret} (D61). Where secrets overlap, all of
 * them are replaced together.
 *
 * All of them are found in one pass whose length does not depend on how many there are (the algorithm of Wu and
 * Manber): a table says how far from any three characters the next secret can begin at the earliest, so that most of a
 * text is skipped. A regular expression takes twenty times as long for a hundred secrets.
 */
export class Masker {
  readonly #steps = new Uint8Array(TABLE_SIZE);
  /** By the hash of the block at the end of their first `#window` characters, the longest first. */
  readonly #forms = new Map<number, SecretForm[]>();
  /** Characters of each form that the search looks at: the length of the shortest form. */
  readonly #window: number;
  readonly #masksNumbers: boolean;
  /** Characters of the longest form of a secret. */
  readonly longest: number;
  /** The same of forms in which a line break stands; 0 when there is none. */
  readonly longestWithBreak: number;
  readonly #allForms: ReadonlySet<string>;
  /** Texts that were searched. */
  #searches = 0;

  /** @param secrets of which each has at least four characters */
  constructor(secrets: Iterable<string>) {
    const forms = new Set<string>();
    for (const secret of secrets) for (const form of encodeSecret(secret)) forms.add(form);
    this.#allForms = forms;
    const lengths = Array.from(forms, ({ length }) => length);
    this.#window = lengths.reduce((shortest, length) => Math.min(shortest, length), MAX_STEP);
    this.#steps.fill(this.#window - BLOCK + 1);
    for (const form of [...forms].sort((a, b) => b.length - a.length)) this.#add(form);
    this.longest = Math.max(0, ...lengths);
    this.longestWithBreak = Math.max(0, ...[...forms].map((form) => (form.includes('\n') ? form.length : 0)));
    this.#masksNumbers = [...forms].some((form) => NUMERIC.test(form));
  }

  #add(form: string): void {
    for (let end = BLOCK - 1; end < this.#window; end++) {
      const hash = hashBlock(form, end);
      this.#steps[hash] = Math.min(this.#steps[hash] ?? 0, this.#window - 1 - end);
    }
    const hash = hashBlock(form, this.#window - 1);
    const others = this.#forms.get(hash);
    if (others === undefined) this.#forms.set(hash, [new SecretForm(form)]);
    else others.push(new SecretForm(form));
  }

  /**
   * Returns the text itself when no secret is in it, nor the part of one that was cut where a message was. Linear in its
   * length, whatever repeats itself in it and in the secrets; 10 MiB take some 30 ms.
   */
  readonly mask = (text: string): string => {
    if (text.length < MIN_SECRET_LENGTH) return text;
    const masked = this.#maskWhole(text);
    return masked.length > MAX_CUT_LENGTH || !CUT.test(masked) ? masked : this.#maskParts(masked);
  };

  /** Replaces what is left of secrets beside the marks of a cut. */
  #maskParts(text: string): string {
    const fragments = text.split(CUT_MARKS);
    // Every second one is a mark.
    if (fragments.length > 2 * MAX_CUTS) return text;
    const last = fragments.length - 1;
    const masked = fragments.map((fragment, index) =>
      index % 2 === 1 ? fragment : this.#maskEnds(fragment, index > 0, index < last),
    );
    return masked.join('');
  }

  #maskEnds(fragment: string, isCutBefore: boolean, isCutAfter: boolean): string {
    const [from, to] = withoutQuotes(fragment);
    const [before, inner, after] = [fragment.slice(0, from), fragment.slice(from, to), fragment.slice(to)];
    let [start, end] = [0, inner.length];
    for (const form of this.#allForms) {
      if (isCutBefore && isCutAfter && inner.length >= MIN_PART && form.includes(inner)) {
        return before + MASK + after;
      }
      if (isCutAfter) end = Math.min(end, inner.length - lengthOfBeginning(form, inner));
      if (isCutBefore) start = Math.max(start, lengthOfEnding(form, inner));
    }
    const middle = inner.slice(start, Math.max(start, end));
    return `${before}${start > 0 ? MASK : ''}${middle}${end < inner.length ? MASK : ''}${after}`;
  }

  #maskWhole(text: string): string {
    let masked = '';
    /** Everything before is in `masked`. */
    let done = 0;
    for (const [start, end] of this.find(text)) {
      masked += text.slice(done, start) + MASK;
      done = end;
    }
    return done === 0 ? text : masked + text.slice(done);
  }

  /** Finds where secrets begin and end, in their order. Those that overlap are found as one. */
  *find(text: string): Iterable<readonly [start: number, end: number]> {
    const window = this.#window;
    this.#searches++;
    let start = -1;
    let end = -1;
    for (let last = window - 1; last < text.length; ) {
      const hash = hashBlock(text, last);
      const step = this.#steps[hash] ?? 0;
      if (step > 0) {
        last += step;
        continue;
      }
      const at = last++ - window + 1;
      const length = this.#lengthAt(text, at, hash);
      if (length === 0) continue;
      if (at >= end) {
        if (end >= 0) yield [start, end];
        start = at;
      }
      end = Math.max(end, at + length);
    }
    if (end >= 0) yield [start, end];
  }

  /** Length of the longest secret that begins there, whose window ends with the hashed block; 0 when none does. */
  #lengthAt(text: string, start: number, hash: number): number {
    for (const form of this.#forms.get(hash) ?? []) {
      if (form.isAt(text, start, this.#searches)) return form.text.length;
    }
    return 0;
  }

  /** Returns `***` for a number that is written like a secret, or contains one. */
  maskNumber(number: number): number | string {
    if (!this.#masksNumbers) return number;
    const text = String(number);
    return this.mask(text) === text ? number : MASK;
  }
}

const QUOTES = new Set([' ', '\n', '\t', '"', "'", '`']);

/** Where a fragment begins and ends without the quotes and spaces around it. */
function withoutQuotes(fragment: string): [from: number, to: number] {
  let [from, to] = [0, fragment.length];
  while (from < to && QUOTES.has(fragment.charAt(from))) from++;
  while (to > from && QUOTES.has(fragment.charAt(to - 1))) to--;
  return [from, to];
}

/** The length of the longest beginning of a form with which a text ends; 0 when it is too short to matter. */
function lengthOfBeginning(form: string, text: string): number {
  const end = text.slice(Math.max(0, text.length - form.length + 1));
  return end.includes(form.slice(0, MIN_PART)) ? measureOverlapOfPart(end, form) : 0;
}

/** The length of the longest ending of a form with which a text begins; 0 when it is too short to matter. */
function lengthOfEnding(form: string, text: string): number {
  const beginning = text.slice(0, form.length - 1);
  return beginning.includes(form.slice(-MIN_PART)) ? measureOverlapOfPart(form, beginning) : 0;
}

function measureOverlapOfPart(first: string, second: string): number {
  const length = measureOverlap(first, second);
  return length < MIN_PART ? 0 : length;
}

/** Hashes the block that ends at a position. */
function hashBlock(text: string, end: number): number {
  const hash = text.charCodeAt(end) + text.charCodeAt(end - 1) * 31 + text.charCodeAt(end - 2) * 1021;
  return hash & (TABLE_SIZE - 1);
}
