import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

// re2js is loaded with the first pattern: most runs need none, and a run must start fast.
const require = createRequire(import.meta.url);

/**
 * Compiles a pattern from a caller. Matching takes linear time in the length of the text, whatever the pattern, where
 * built-in regular expressions may take exponential time. Look-around and back-references are not supported.
 *
 * @throws Error that names the unsupported or invalid part of the pattern
 */
export function linearRegex(pattern: string | RegExp): RE2JS {
  const { RE2JS }: typeof import('re2js') = require('re2js');
  return RE2JS.compile(RE2JS.translateRegExp(pattern));
}

type Matcher = ReturnType<RE2JS['matcher']>;

/** The part of RegExp that JSONata uses, in linear time: `exec` from `lastIndex` on, as with the flag `g`. */
export class LinearRegExp {
  lastIndex = 0;
  readonly #regex: RE2JS;
  #text: string | undefined;
  #matcher: Matcher | undefined;

  /** @throws Error when the pattern uses look-around or back-references */
  constructor(pattern: RegExp) {
    this.#regex = linearRegex(pattern);
  }

  /** Returns the next match and its groups, or null; sets `lastIndex` to its end. */
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
