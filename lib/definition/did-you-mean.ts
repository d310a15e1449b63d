import { distance } from 'fastest-levenshtein';
import { didYouMean, type Hint, hintRename } from './problems/hint.js';

/** Longer words are no typing mistakes; comparing them would only cost time. */
const MAX_WORD_LENGTH = 200;

/** How much may still be compared, in units of about 10 ns. */
interface ComparisonBudget {
  left: number;
}

/** The algorithm compares this many letters of the word at once with one of the name. */
const ROW_LENGTH = 32;
const COMPARISON_COST = 20;

/**
 * Finds the known name that `word` was probably meant to be; undefined when none is close enough.
 *
 * A name is close when at most a third of the word's letters differ, rounded up, but never all of them. Case breaks
 * ties only; then the first known name wins. The search ends early when the budget is used up.
 */
export function nearest(
  word: string,
  known: Iterable<string>,
  budget: ComparisonBudget = { left: Infinity },
): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  const lowerCased = word.toLowerCase();
  let limit = Math.max(1, Math.ceil(word.length / 3));
  let best: string | undefined;
  const rows = Math.ceil(word.length / ROW_LENGTH);
  for (const name of known) {
    if (budget.left-- <= 0) break;
    if (Math.abs(name.length - word.length) > limit) continue;
    budget.left -= COMPARISON_COST + rows * name.length;
    const edits = distance(lowerCased, name.toLowerCase());
    if (edits > limit || edits >= Math.max(word.length, name.length)) continue;
    if (best !== undefined && edits === limit && distance(word, name) >= distance(word, best)) continue;
    best = name;
    limit = edits;
  }
  return best;
}

/** How many unknown names get a suggestion. */
const MAX_SUGGESTIONS = 50;

/** About 10 ms: each unknown name is compared with every known name. */
const MAX_COMPARED = 1_000_000;

/** Suggests names during one check of a definition: for the first unknown names, as long as that costs little. */
export class Suggestions {
  #left = MAX_SUGGESTIONS;
  readonly #budget: ComparisonBudget = { left: MAX_COMPARED };

  /**
   * @param otherwise the hint when no known name is close
   * @param prefix what stands before the word where it is written
   */
  hint(word: string, known: Iterable<string>, otherwise?: Hint, prefix = ''): Hint | undefined {
    const name = this.nearest(word, known);
    if (name === undefined) return otherwise;
    return { ...hintRename(`${prefix}${word}`, `${prefix}${name}`), text: didYouMean(name) };
  }

  nearest(word: string, known: Iterable<string>): string | undefined {
    return this.#left-- > 0 ? nearest(word, known, this.#budget) : undefined;
  }
}
