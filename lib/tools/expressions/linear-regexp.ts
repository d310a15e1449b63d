import type { RE2JS } from 're2js';
import { linearRegex } from '../../common/json-schema/linear-regex.js';

type Matcher = ReturnType<RE2JS['matcher']>;

/** The part of RegExp that JSONata uses, matching in linear time: `exec` from `lastIndex` on, as with the flag `g`. */
export class LinearRegExp {
  lastIndex = 0;
  readonly #regex: RE2JS;
  #text: string | undefined;
  #matcher: Matcher | undefined;

  /** @throws Error when the pattern is not supported (look-around, back-references). */
  constructor(pattern: RegExp) {
    this.#regex = linearRegex(pattern);
  }

  /** The next match and its groups, with its `index`; null when there is none. Moves `lastIndex` behind it. */
  exec(text: string): ((string | undefined)[] & { index: number }) | null {
    const matcher = this.#matcherFor(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) ?? undefined);
    return Object.assign(groups, { index: matcher.start() });
  }

  #matcherFor(text: string): Matcher {
    if (this.#matcher === undefined || this.#text !== text) {
      this.#matcher = this.#regex.matcher(text);
      this.#text = text;
    }
    return this.#matcher;
  }
}
