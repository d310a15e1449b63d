import type { Steps } from '../../common/scheduling/steps.js';

/** Something that `JSON.parse` drops without an error, or a key that is dangerous. */
export interface LossyJson {
  readonly offset: number;
  /**
   * `key`: an object has it twice; `prototype`: the key `__proto__`; `digits`: an integer has more than a number can hold;
   * `size`: it becomes infinite.
   */
  readonly kind: 'key' | 'prototype' | 'digits' | 'size';
  /** The key, or the text of the number. */
  readonly lost: string;
}

/** The depth and the numbers of parts of a JSON text. */
export interface JsonMeasure {
  readonly depth: number;
  /** Number of lists and objects. */
  readonly containers: number;
  /** Number of members of objects. */
  readonly members: number;
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const [ZERO, NINE] = [0x30, 0x39];
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [OPEN_LIST, OPEN_OBJECT] = [0x5b, 0x7b];
const [CLOSED_LIST, CLOSED_OBJECT] = [0x5d, 0x7d];

/** In one step, about as many characters are measured, or members counted. */
const STEP_LENGTH = 64 * 1024;
const STEP_MEMBERS = 4096;

/** Measures a valid JSON text without parsing it: recursive code could overflow the stack on a value that is too deep. */
export function* measureJsonInSteps(text: string): Steps<JsonMeasure> {
  let [depth, deepest, containers, members] = [0, 0, 0, 0];
  yield* scanInSteps(text, (start, end) => {
    let i = start;
    for (; i < end; i++) {
      const character = text.charCodeAt(i);
      if (character === QUOTE) i = skipString(text, i);
      else if (character === COLON) members++;
      else if (character === OPEN_LIST || character === OPEN_OBJECT) {
        containers++;
        deepest = Math.max(deepest, ++depth);
      } else if (character === CLOSED_LIST || character === CLOSED_OBJECT) depth--;
    }
    return i;
  });
  return { depth: deepest, containers, members };
}

/** Scans a text. `scan` begins at `start`, and returns where it stopped: at `end`, or after the string that is there. */
function* scanInSteps(text: string, scan: (start: number, end: number) => number): Steps<void> {
  let offset = scan(0, Math.min(STEP_LENGTH, text.length));
  while (offset < text.length) {
    yield;
    offset = scan(offset, Math.min(offset + STEP_LENGTH, text.length));
  }
}

/**
 * Finds the first thing that a valid JSON text says and its value does not (D7); undefined when there is none. The
 * usual case only compares the members that {@link measureJsonInSteps} has counted, which is faster than parsing.
 */
export function* findLossyJsonInSteps(
  text: string,
  value: unknown,
  members: number,
): Steps<LossyJson | undefined> {
  const count = new ValueCount(value);
  while (count.addNext()) yield;
  return count.members === members && !count.hasUnsafeMember ? undefined : yield* locateLoss(text);
}

/** Counts the members of a value and of all values in it, however deep they are. */
class ValueCount {
  members = 0;
  hasUnsafeMember = false;
  readonly #pending: object[] = [];
  /** The list or object that is being counted, the keys of an object, and how many members were. */
  #open: Readonly<Record<string | number, unknown>> = {};
  #keys: readonly string[] | undefined;
  #length = 0;
  #position = 0;

  constructor(value: unknown) {
    this.#add(value);
  }

  /** Counts in some of the lists and objects. Returns false when there are no others. */
  addNext(): boolean {
    for (let left = STEP_MEMBERS; left > 0; left--) {
      if (this.#position < this.#length) left -= this.#addMembers(left);
      else if (!this.#openNext()) return false;
    }
    return true;
  }

  #openNext(): boolean {
    const next = this.#pending.pop();
    if (next === undefined) return false;
    this.#position = 0;
    this.#open = next as Record<string, unknown>;
    // Object.values would take three times as long for an object with very many keys.
    this.#keys = Array.isArray(next) ? undefined : Object.keys(next);
    if (this.#keys !== undefined) this.members += this.#keys.length;
    this.#length = (this.#keys ?? (next as unknown[])).length;
    return true;
  }

  #add(value: unknown): void {
    if (typeof value === 'number') this.hasUnsafeMember ||= Math.abs(value) > Number.MAX_SAFE_INTEGER;
    else if (typeof value === 'object' && value !== null) this.#pending.push(value);
  }

  /** Returns how many members it has added. */
  #addMembers(limit: number): number {
    const start = this.#position;
    const end = Math.min(start + limit, this.#length);
    while (this.#position < end) {
      const key = this.#keys === undefined ? this.#position : (this.#keys[this.#position] ?? '');
      if (key === PROTOTYPE_KEY) this.hasUnsafeMember = true;
      this.#add(this.#open[key]);
      this.#position++;
    }
    return end - start;
  }
}

const PROTOTYPE_KEY = '__proto__';

function* locateLoss(text: string): Steps<LossyJson | undefined> {
  const search = new LossSearch(text);
  yield* scanInSteps(text, (start, end) => search.scan(start, end));
  return search.loss;
}

class LossSearch {
  loss: LossyJson | undefined;
  readonly #text: string;
  /** The keys of each open object; undefined for a list, and for an object before its first key. */
  readonly #open: (Set<string> | undefined)[] = [];
  /** The last string, which is a key when a colon follows. */
  #string = { start: 0, end: 0 };

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns where it stopped; the end of the text when it has found a loss. */
  scan(start: number, end: number): number {
    const text = this.#text;
    let i = start;
    for (; i < end; i++) {
      const character = text.charCodeAt(i);
      if (character === QUOTE) {
        this.#string = { start: i, end: skipString(text, i) };
        i = this.#string.end;
      } else if (character === COLON) this.#addKey();
      else if (character === OPEN_LIST || character === OPEN_OBJECT) this.#open.push(undefined);
      else if (character === CLOSED_LIST || character === CLOSED_OBJECT) this.#open.pop();
      else if (character === MINUS || (character >= ZERO && character <= NINE)) {
        const lost = readNumber(text, i);
        const kind = findNumberLoss(lost);
        if (kind !== undefined) this.loss = { offset: i, kind, lost };
        i += lost.length - 1;
      }
      if (this.loss !== undefined) return text.length;
    }
    return i;
  }

  #addKey(): void {
    const key = readString(this.#text, this.#string);
    const keys = this.#open.at(-1) ?? new Set();
    const kind = key === PROTOTYPE_KEY ? 'prototype' : keys.has(key) ? 'key' : undefined;
    if (kind !== undefined) this.loss = { offset: this.#string.start, kind, lost: key };
    this.#open[this.#open.length - 1] = keys.add(key);
  }
}

/** Returns the offset of the closing quote. */
function skipString(text: string, start: number): number {
  let i = start + 1;
  for (; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === BACKSLASH) i++;
    else if (character === QUOTE) return i;
  }
  return i;
}

/** Decodes escapes: two spellings of a key are one key. */
function readString(text: string, { start, end }: { readonly start: number; readonly end: number }): string {
  const content = text.slice(start + 1, end);
  return content.includes('\\') ? (JSON.parse(text.slice(start, end + 1)) as string) : content;
}

const NUMBER = /[-+.0-9eE]+/y;
const INTEGER = /^-?\d+$/;

function readNumber(text: string, start: number): string {
  NUMBER.lastIndex = start;
  return NUMBER.exec(text)?.[0] ?? '';
}

/** Fractions and exponents may be rounded, as in YAML: who writes them expects no exact number. */
function findNumberLoss(number: string): LossyJson['kind'] | undefined {
  const value = Number(number);
  if (!Number.isFinite(value)) return 'size';
  return INTEGER.test(number) && !Number.isSafeInteger(value) ? 'digits' : undefined;
}
