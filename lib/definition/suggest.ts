import { distance } from 'fastest-levenshtein';

/** Longer words are no typing mistakes; comparing them would only cost time. */
const MAX_WORD_LENGTH = 200;

/**
 * Finds the known name that `word` was probably meant to be; undefined when none is close enough.
 *
 * A name is close when at most a third of the word's letters differ, rounded up, but never all of them. Case breaks
 * ties only; then the first known name wins.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  const lowerCased = word.toLowerCase();
  let limit = Math.max(1, Math.ceil(word.length / 3));
  let best: string | undefined;
  for (const name of known) {
    if (Math.abs(name.length - word.length) > limit) continue;
    const edits = distance(lowerCased, name.toLowerCase());
    if (edits > limit || edits >= Math.max(word.length, name.length)) continue;
    if (best !== undefined && edits === limit && distance(word, name) >= distance(word, best)) continue;
    best = name;
    limit = edits;
  }
  return best;
}

/** Formats a suggestion as a hint. */
export function didYouMean(name: string): string {
  return `did you mean "${name}"?`;
}

/** How many unknown names get a suggestion: each is compared with every known name. */
const MAX_SUGGESTIONS = 50;

/** Suggests names during one check of a definition, and stops after the first 50 unknown names. */
export class Suggestions {
  #left = MAX_SUGGESTIONS;

  /** @param otherwise the hint when no known name is close */
  hint(word: string, known: Iterable<string>, otherwise?: string): string | undefined {
    const name = this.nearest(word, known);
    return name === undefined ? otherwise : didYouMean(name);
  }

  nearest(word: string, known: Iterable<string>): string | undefined {
    return this.#left-- > 0 ? nearest(word, known) : undefined;
  }
}
