import { nearest } from '../definition/suggest.js';

/** How many unknown names are worth a suggestion: each costs a look at every known one. */
const MOST_SUGGESTIONS = 50;

/** The nearest known names for one check of a definition; when there are too many unknown ones, none any more. */
export class Suggestions {
  #left = MOST_SUGGESTIONS;

  /** `otherwise` is the hint when no name is near. */
  hint(word: string, known: Iterable<string>, otherwise?: string): { readonly hint?: string } {
    const [near] = this.nearest(word, known);
    const hint = near === undefined ? otherwise : `did you mean "${near}"?`;
    return hint === undefined ? {} : { hint };
  }

  /** One, or none. */
  nearest(word: string, known: Iterable<string>): string[] {
    const near = this.#left-- > 0 ? nearest(word, known) : undefined;
    return near === undefined ? [] : [near];
  }
}

/** Both ends of a long list, for a message. */
export function shortenedList(parts: readonly string[]): string[] {
  return parts.length <= 12 ? [...parts] : [...parts.slice(0, 6), '…', ...parts.slice(-5)];
}

/** What the checks before have proved to be there: that it is missing is a mistake of ours, and must be loud. */
export function certain<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is missing after the check`);
  return value;
}

export function entryOf<V>(entries: ReadonlyMap<string, V>, key: string): V {
  return certain(entries.get(key), `"${key}"`);
}
