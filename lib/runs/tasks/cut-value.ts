import { type Json, type JsonObject, setOwn, subtractJsonLength, toJsonPointer } from '../../common/json.js';
import { cutText } from '../../common/text.js';

/** A text keeps at least so much. */
const MIN_TEXT_LENGTH = 64;

/** A member counts at least so much, so that a list with very many keeps a few of them. */
const MIN_MEMBER_LENGTH = 32;

/** Lists and objects that are deeper inside a long value are replaced. */
const MAX_DEPTH = 20;

/** The key in place of the members that an object has lost. */
const MORE = '…';

/**
 * Cuts a JSON value to about `limit` characters, evenly: a text keeps its start, and a list or an object its first
 * members, with a text in place of the others (D59).
 *
 * @param path JSON pointer to the value
 * @param cut receives the JSON pointers to what was cut
 */
export function cutValue(value: Json, limit: number, path: string, cut: string[]): Json {
  return new Cutter(cut).cut(value, limit, path, 0);
}

class Cutter {
  readonly #cut: string[];

  constructor(cut: string[]) {
    this.#cut = cut;
  }

  cut(value: Json, limit: number, path: string, depth: number): Json {
    if (subtractJsonLength(limit, value) >= 0) return value;
    if (typeof value === 'string') return this.#cutText(value, limit, path);
    if (typeof value !== 'object' || value === null) return value;
    if (depth === MAX_DEPTH) {
      this.#cut.push(path);
      return `… (${Array.isArray(value) ? 'a list' : 'an object'})`;
    }
    return Array.isArray(value)
      ? this.#cutList(value, limit, path, depth)
      : this.#cutObject(value, limit, path, depth);
  }

  #cutText(text: string, limit: number, path: string): string {
    const length = Math.max(limit, MIN_TEXT_LENGTH);
    if (text.length <= length) return text;
    this.#cut.push(path);
    return cutText(text, length);
  }

  #cutList(list: readonly Json[], limit: number, path: string, depth: number): Json[] {
    const shares = new Shares(limit, list.length);
    const shown: Json[] = [];
    for (let index = 0; index < shares.count; index++) {
      shown.push(shares.take((share) => this.cut(list[index] ?? null, share, `${path}/${index}`, depth + 1)));
    }
    if (shares.count < list.length) {
      this.#cut.push(path);
      shown.push(describeRest(list.length - shares.count));
    }
    return shown;
  }

  #cutObject(object: JsonObject, limit: number, path: string, depth: number): JsonObject {
    const keys = Object.keys(object);
    const shares = new Shares(limit, keys.length);
    const shown: JsonObject = {};
    for (const key of keys.slice(0, shares.count)) {
      const member = `${path}${toJsonPointer([key])}`;
      const value = shares.take((share) =>
        this.cut(object[key] ?? null, Math.max(0, share - key.length), member, depth + 1),
      );
      setOwn(shown, key, value);
    }
    if (shares.count < keys.length) {
      this.#cut.push(path);
      setOwn(shown, MORE, describeRest(keys.length - shares.count));
    }
    return shown;
  }
}

/** Divides a limit between members: what short ones leave goes to those after them. */
class Shares {
  /** The number of members that are shown. */
  readonly count: number;
  #left: number;
  #members: number;

  constructor(limit: number, members: number) {
    this.count = Math.min(members, Math.max(1, Math.floor(limit / MIN_MEMBER_LENGTH)));
    this.#left = limit;
    this.#members = this.count;
  }

  take(cut: (share: number) => Json): Json {
    const share = Math.max(0, Math.floor(this.#left / this.#members--));
    const value = cut(share);
    this.#left = Math.max(0, subtractJsonLength(this.#left, value));
    return value;
  }
}

function describeRest(count: number): string {
  return `… and ${count.toLocaleString('en')} more`;
}
