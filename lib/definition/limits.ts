/** Bounds on a definition, so that no text can hold the process (Limits). */

/** Longest text, in bytes of UTF-8. */
export const LONGEST_TEXT_BYTES = 16 * 2 ** 20;

/** Deepest nesting of maps and lists. */
export const DEEPEST_NESTING = 100;
export const TOO_DEEP = `the definition is nested deeper than ${DEEPEST_NESTING} levels`;

/** How often aliases may be expanded; YAML's usual bound against texts that grow when read. */
export const MOST_ALIASES = 100;

/** How much longer a text may be when what its aliases name is written out wherever they stand. */
export const MOST_UNFOLDED_BYTES = 2 ** 20;

/** The same for objects that hold one part in several places: who makes them in code shares as a matter of course. */
export const MOST_SHARED_BYTES = LONGEST_TEXT_BYTES;
