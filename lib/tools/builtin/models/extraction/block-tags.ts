/** Spaces inside of a tag are bounded: a search through more of them would not be linear. */
const TAGS = /<(?=\s{0,9}\/?\s{0,9}(?:context|task|page)(?![\w-]))/gi;

/**
 * Breaks the tags of blocks in a text, `<page …>`, `</context>`, so that it can neither end the block in which a model
 * reads it nor begin one. A text without them stays as it is.
 */
export function breakBlockTags(text: string): string {
  return text.replaceAll(TAGS, '< ');
}
