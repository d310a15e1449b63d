import {
  type Json,
  type JsonObject,
  setOwn,
  subtractJsonLength,
  toJsonPointer,
} from '../../common/json/json.js';
import { runToEnd, StepCounter, type Steps } from '../../common/scheduling/steps.js';
import { cutText, formatNumber } from '../../common/text.js';

/** A text keeps at least so much. */
const MIN_TEXT_LENGTH = 64;

/** A member counts at least so much, so that a list with very many keeps a few of them. */
const MIN_MEMBER_LENGTH = 32;

/** A key that is no longer is shown even where its member has no room for it. */
const MIN_KEY_LENGTH = 64;

/** Lists and objects that are deeper inside a long value are replaced. */
const MAX_DEPTH = 20;

/** The key in place of the members that an object has lost. */
const MORE = '…';

/** The pointers of a value are together so many times as long as its limit, and at least so long. */
const POINTERS_PER_LIMIT = 4;
const MIN_POINTERS_LENGTH = 4096;

/**
 * Cuts a JSON value to about `limit` characters, evenly: a text keeps its start, and a list or an object its first
 * members, with a text in place of the others (D59). An object also loses members whose keys are too long.
 *
 * @param path JSON pointer to the value
 * @param cut receives the JSON pointers to what was cut; of very much, only `path` in place of further ones
 */
export function cutValue(value: Json, limit: number, path: string, cut: string[]): Json {
  return runToEnd(cutValueInSteps(value, limit, path, cut));
}

/** Cuts like {@link cutValue}, in steps. */
export function* cutValueInSteps(value: Json, limit: number, path: string, cut: string[]): Steps<Json> {
  if (limit === Number.POSITIVE_INFINITY) return value;
  return yield* new Cutter(new Pointers(path, limit, cut)).cut(value, limit, undefined, 0);
}

/** Where a part of the value is; undefined for the value itself. Its pointer is made only when the part is cut. */
interface Place {
  readonly parent: Place | undefined;
  readonly key: string | number;
  /** About how long the pointer is. */
  readonly length: number;
}

function placeIn(parent: Place | undefined, key: string | number): Place {
  const length = typeof key === 'string' ? key.length : 4;
  return { parent, key, length: (parent?.length ?? 0) + length + 1 };
}

/** Lists the pointers to what was cut, until they are too long together. */
class Pointers {
  readonly #path: string;
  readonly #cut: string[];
  #lengthLeft: number;
  #hasPath = false;

  constructor(path: string, limit: number, cut: string[]) {
    this.#path = path;
    this.#cut = cut;
    this.#lengthLeft = Math.max(MIN_POINTERS_LENGTH, POINTERS_PER_LIMIT * limit);
  }

  add(place: Place | undefined): void {
    if (place === undefined) return this.#addPath();
    // Once one does not fit, `path` says that there are more, and none that is shorter follows.
    this.#lengthLeft -= this.#path.length + place.length;
    if (this.#lengthLeft < 0) return this.#addPath();
    const keys: (string | number)[] = [];
    for (let at: Place | undefined = place; at !== undefined; at = at.parent) keys.push(at.key);
    this.#cut.push(this.#path + toJsonPointer(keys.toReversed()));
  }

  #addPath(): void {
    if (!this.#hasPath) this.#cut.push(this.#path);
    this.#hasPath = true;
  }
}

const PARTS_PER_STEP = 5000;

/** The keys of an object that has more are listed once: a value may contain the same object very many times. */
const MANY_KEYS = 64;

class Cutter {
  readonly #pointers: Pointers;
  readonly #counter = new StepCounter(PARTS_PER_STEP);
  readonly #keysOf: (object: JsonObject) => readonly string[];

  constructor(pointers: Pointers) {
    this.#pointers = pointers;
    const keysByObject = new Map<JsonObject, readonly string[]>();
    const keysOf = (object: JsonObject): readonly string[] => {
      const known = keysByObject.get(object);
      if (known !== undefined) return known;
      const keys = Object.keys(object);
      this.#counter.add(keys.length);
      if (keys.length > MANY_KEYS) keysByObject.set(object, keys);
      return keys;
    };
    this.#keysOf = keysOf;
  }

  *cut(value: Json, limit: number, place: Place | undefined, depth: number): Steps<Json> {
    if (this.#measure(value, limit) >= 0) return value;
    if (typeof value === 'string') return this.#cutText(value, limit, place);
    if (typeof value !== 'object' || value === null) return value;
    if (this.#counter.isOver()) yield;
    if (depth === MAX_DEPTH || (limit === 0 && !this.#isEmpty(value))) {
      this.#pointers.add(place);
      return `… (${Array.isArray(value) ? 'a list' : 'an object'})`;
    }
    return Array.isArray(value)
      ? yield* this.#cutList(value, limit, place, depth)
      : yield* this.#cutObject(value, limit, place, depth);
  }

  #cutText(text: string, limit: number, place: Place | undefined): string {
    const length = Math.max(limit, MIN_TEXT_LENGTH);
    if (text.length <= length) return text;
    this.#pointers.add(place);
    return cutText(text, length);
  }

  *#cutList(list: readonly Json[], limit: number, place: Place | undefined, depth: number): Steps<Json[]> {
    const shares = new Shares(limit, list.length);
    const shown: Json[] = [];
    for (let index = 0; index < shares.count; index++) {
      const value = yield* this.cut(list[index] ?? null, shares.next(), placeIn(place, index), depth + 1);
      shown.push(value);
      shares.left = this.#measure(value, shares.left);
    }
    if (shares.count < list.length) {
      this.#pointers.add(place);
      shown.push(describeRest(list.length - shares.count));
    }
    return shown;
  }

  *#cutObject(object: JsonObject, limit: number, place: Place | undefined, depth: number): Steps<JsonObject> {
    const keys = this.#keysOf(object);
    const shares = new Shares(limit, keys.length);
    const shown: JsonObject = {};
    let count = 0;
    let keysLeft = Math.max(MIN_KEY_LENGTH, limit);
    for (const key of keys.slice(0, shares.count)) {
      const share = shares.next();
      if (key.length > Math.min(keysLeft, Math.max(MIN_KEY_LENGTH, share))) continue;
      keysLeft -= key.length;
      const rest = Math.max(0, share - key.length);
      const value = yield* this.cut(object[key] ?? null, rest, placeIn(place, key), depth + 1);
      setOwn(shown, key, value);
      shares.left = this.#measure(value, shares.left - key.length);
      count++;
    }
    if (count < keys.length) {
      this.#pointers.add(place);
      setOwn(shown, MORE, describeRest(keys.length - count));
    }
    return shown;
  }

  #isEmpty(value: Json[] | JsonObject): boolean {
    return (Array.isArray(value) ? value : this.#keysOf(value)).length === 0;
  }

  /** Subtracts the length of a value from a limit. Stops as soon as the rest is negative. */
  #measure(value: Json, limit: number): number {
    const left = subtractJsonLength(limit, value, this.#keysOf);
    // No more parts were looked at than there are characters.
    this.#counter.add(limit - left);
    return left;
  }
}

/** Divides a limit between members: what short ones leave goes to those after them. */
class Shares {
  readonly count: number;
  left: number;
  #members: number;

  constructor(limit: number, members: number) {
    this.count = Math.min(members, Math.max(1, Math.floor(limit / MIN_MEMBER_LENGTH)));
    this.left = limit;
    this.#members = this.count;
  }

  /** Returns the length that the next member may have. */
  next(): number {
    return Math.max(0, Math.floor(this.left / this.#members--));
  }
}

function describeRest(count: number): string {
  return `… and ${formatNumber(count)} more`;
}
