import { structuredPatch } from 'diff';

/** A line of a difference: it is in both texts, or was added or removed. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Lines that differ, in a row or nearly, with some before and after them that do not. */
export interface DiffHunk {
  /** The number of the first line in the earlier text and in the later one, from 1. */
  readonly before: number;
  readonly after: number;
  readonly lines: readonly DiffLine[];
}

/** Lines that are added and removed at most. Time and memory grow with the square of them, in one turn of the page. */
export const MOST_CHANGED_LINES = 1000;

/** Lines that do not differ before and after those that do. */
const CONTEXT = 3;

const KINDS: Readonly<Record<string, DiffLine['kind']>> = { ' ': 'same', '+': 'added', '-': 'removed' };

/**
 * Compares two texts line by line, in as few added and removed lines as possible.
 *
 * @returns the differences in their order, none when the texts are equal; undefined when more lines differ than the limit allows
 */
export function diffLines(before: string, after: string): readonly DiffHunk[] | undefined {
  const options = { context: CONTEXT, maxEditLength: MOST_CHANGED_LINES };
  const patch = structuredPatch('', '', endLine(before), endLine(after), undefined, undefined, options);
  return patch?.hunks.map(({ oldStart, newStart, lines }) => ({
    before: oldStart,
    after: newStart,
    lines: lines.map((line) => ({ kind: KINDS[line.charAt(0)] ?? 'same', text: line.slice(1) })),
  }));
}

/** Ends the last line, so that a missing end makes no difference. */
function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
