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
