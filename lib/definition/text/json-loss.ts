import type { Steps } from '../steps.js';

/** Something that `JSON.parse` drops without an error, or a key that is dangerous. */
export interface JsonLoss {
  readonly offset: number;
  /**
   * `key`: an object has it twice; `prototype`: the key `__proto__`; `digits`: an integer has more than a number can hold;
   * `size`: it becomes infinite.
   */
  readonly kind: 'key' | 'prototype' | 'digits' | 'size';
  /** The key, or the text of the number. */
  readonly lost: string;
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

/**
 * Measures a valid JSON text without parsing it: recursive code could overflow the stack on a value that is nested too
 * deep.
 */
export function* measureJsonInSteps(
  text: string,
): Steps<{ readonly depth: number; readonly members: number }> {
  let [depth, deepest, members] = [0, 0, 0];
  let endOfStep = STEP_LENGTH;
  for (let i = 0; i < text.length; i++) {
    if (i > endOfStep) {
      endOfStep = i + STEP_LENGTH;
      yield;
    }
    const character = text.charCodeAt(i);
    if (character === QUOTE) i = skipString(text, i);
    else if (character === COLON) members++;
    else if (character === OPEN_LIST || character === OPEN_OBJECT) deepest = Math.max(deepest, ++depth);
    else if (character === CLOSED_LIST || character === CLOSED_OBJECT) depth--;
  }
  return { depth: deepest, members };
}

/**
 * Finds the first thing that a valid JSON text says and its value does not (D7); undefined when there is none. The
 * usual case takes less time than parsing, because it only compares counts.
 *
 * @param members that {@link measureJsonInSteps} has counted in the text
 */
export function* findJsonLossInSteps(
  text: string,
  value: unknown,
  members: number,
): Steps<JsonLoss | undefined> {
  const count = new ValueCount(value);
  while (count.addNext()) yield;
  return count.members === members && !count.hasUnsafeMember ? undefined : yield* locateLoss(text);
}

/** Counts the members of a value and of all values in it, however deep they are. */
class ValueCount {
  members = 0;
  hasUnsafeMember = false;
  readonly #pending: object[] = [];

  constructor(value: unknown) {
    this.#add(value);
  }

  /** Counts in some of the lists and objects. Returns false when there are no others. */
  addNext(): boolean {
    const end = this.members + STEP_MEMBERS;
    for (let lists = 0; lists < STEP_MEMBERS && this.members < end; lists++) {
      const next = this.#pending.pop();
      if (next === undefined) return false;
      if (Array.isArray(next)) for (const item of next) this.#add(item);
      else this.#addMembers(next as Record<string, unknown>);
    }
    return true;
  }

  #add(value: unknown): void {
    if (typeof value === 'number') this.hasUnsafeMember ||= Math.abs(value) > Number.MAX_SAFE_INTEGER;
    else if (typeof value === 'object' && value !== null) this.#pending.push(value);
  }

  #addMembers(object: Record<string, unknown>): void {
    // Object.values would take three times as long for an object with very many keys.
    const keys = Object.keys(object);
    this.members += keys.length;
    for (const key of keys) {
      if (key === PROTOTYPE_KEY) this.hasUnsafeMember = true;
      this.#add(object[key]);
    }
  }
}

const PROTOTYPE_KEY = '__proto__';

function* locateLoss(text: string): Steps<JsonLoss | undefined> {
  /** The keys of each open object; undefined for a list, and for an object before its first key. */
  const open: (Set<string> | undefined)[] = [];
  let string = { start: 0, end: 0 };
  let endOfStep = STEP_LENGTH;
  for (let i = 0; i < text.length; i++) {
    if (i > endOfStep) {
      endOfStep = i + STEP_LENGTH;
      yield;
    }
    const character = text.charCodeAt(i);
    if (character === QUOTE) {
      const end = skipString(text, i);
      string = { start: i, end };
      i = end;
    } else if (character === COLON) {
      const key = readString(text, string);
      if (key === PROTOTYPE_KEY) return { offset: string.start, kind: 'prototype', lost: key };
      const keys = open.at(-1) ?? new Set();
      if (keys.has(key)) return { offset: string.start, kind: 'key', lost: key };
      open[open.length - 1] = keys.add(key);
    } else if (character === OPEN_LIST || character === OPEN_OBJECT) open.push(undefined);
    else if (character === CLOSED_LIST || character === CLOSED_OBJECT) open.pop();
    else if (character === MINUS || (character >= ZERO && character <= NINE)) {
      const number = readNumber(text, i);
      const kind = findNumberLoss(number);
      if (kind !== undefined) return { offset: i, kind, lost: number };
      i += number.length - 1;
    }
  }
  return undefined;
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
function findNumberLoss(number: string): JsonLoss['kind'] | undefined {
  const value = Number(number);
  if (!Number.isFinite(value)) return 'size';
  return INTEGER.test(number) && !Number.isSafeInteger(value) ? 'digits' : undefined;
}
