/** How much room text takes on a terminal. */

const WIDE = [
  [0x1100, 0x115f], // Hangul Jamo
  [0x2e80, 0x303e], // CJK radicals and punctuation
  [0x3041, 0x33ff], // kana, CJK symbols
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff], // CJK ideographs
  [0xa000, 0xa4cf], // Yi
  [0xac00, 0xd7a3], // Hangul syllables
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60], // full-width forms
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
] as const;

const PLAIN = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mark}\p{Control}\p{Format}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;

/** Columns that `text` takes: 2 for wide characters, 0 for those that add to the one before. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += widthOfGrapheme(segment);
  return width;
}

/** The beginning of `text` that fits into `columns`, its last column an ellipsis when something is left out. */
export function clip(text: string, columns: number): string {
  if (columns <= 0) return '';
  // No character takes part in more than a few dozen code units: what follows cannot matter.
  const head = text.length > columns * 64 ? text.slice(0, columns * 64) : text;
  if (head === text && widthOf(text) <= columns) return text;
  return `${takeColumns(head, columns - 1)}…`;
}

/** As many whole characters from the start of `text` as fit into `columns`. */
export function takeColumns(text: string, columns: number): string {
  let taken = '';
  let width = 0;
  for (const { segment } of graphemesOf(text)) {
    width += widthOfGrapheme(segment);
    if (width > columns) break;
    taken += segment;
  }
  return taken;
}

/** `text` followed by spaces up to `columns`. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Made when first needed: it costs more than all the rest of a short command. */
let segmenter: Intl.Segmenter | undefined;

function graphemesOf(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function widthOfGrapheme(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
