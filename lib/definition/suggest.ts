import { distance } from 'fastest-levenshtein';

/** Longer words are nobody's typing slip; comparing them would only cost time. */
const WORD_LIMIT = 200;

/**
 * The known name that `word` was probably meant to be; undefined when none is close enough.
 *
 * Close is a third of the word's letters, rounded up, but never all of them; case is no difference, but breaks
 * ties, and then the first known name wins.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > WORD_LIMIT) return undefined;
  const folded = word.toLowerCase();
  let limit = Math.max(1, Math.ceil(word.length / 3));
  let best: string | undefined;
  for (const name of known) {
    if (Math.abs(name.length - word.length) > limit) continue;
    const away = distance(folded, name.toLowerCase());
    if (away > limit || away >= Math.max(word.length, name.length)) continue;
    if (best !== undefined && away === limit && distance(word, name) >= distance(word, best)) continue;
    best = name;
    limit = away;
  }
  return best;
}
