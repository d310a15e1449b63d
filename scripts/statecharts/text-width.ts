const NARROW = new Set("fijlrtI.,:;'|!()[]/ -");
const WIDE = new Set('mwMWGOQ@%');

/**
 * Estimates the width of a text, in parts of the size of its font. The wider of the usual fonts without serifs fit, so a
 * label stays in its box whichever font the reader has.
 */
export function textWidth(text: string): number {
  let width = 0;
  for (const char of text)
    width += NARROW.has(char) ? 0.38 : WIDE.has(char) ? 0.92 : /[A-Z]/.test(char) ? 0.7 : 0.59;
  return width;
}
