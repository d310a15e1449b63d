import type { TextEdit } from '../problems/problem.js';
import { MAX_FIXED_LINES } from './limits.js';

/** A text whose indentation has spaces in place of tabs. */
interface Reindented {
  readonly text: string;
  /** An edit for each line that changes. */
  readonly edits: TextEdit[];
}

/** The indentation of a line, alone and with the dashes of the list entries that begin there. */
const INDENTATION = /^[ \t]*/;
const INDENTATION_WITH_DASHES = /^[ \t]*(?:-[ \t]+)*/;

/**
 * Writes two spaces in place of each tab of the indentation, and one behind a dash. In a line that begins with spaces, or
 * behind a dash, a tab may belong to a text: there it stays unless the parser has reported the line.
 *
 * Returns undefined when no line changes, or too many.
 *
 * @param reported the lines with an error, from 1
 */
export function indentWithSpaces(text: string, reported: ReadonlySet<number>): Reindented | undefined {
  const edits: TextEdit[] = [];
  const lines = text.split('\n').map((written, index) => {
    const line = index + 1;
    const isReported = reported.has(line);
    const [indentation = ''] = (isReported ? INDENTATION_WITH_DASHES : INDENTATION).exec(written) ?? [];
    const rest = written.slice(indentation.length);
    const mayChange = isReported || written.startsWith('\t');
    if (!mayChange || !indentation.includes('\t') || rest.trim() === '') return written;
    const spaces = indentation.replaceAll('-\t', '- ').replaceAll('\t', '  ');
    edits.push({
      from: { line, column: 1 },
      to: { line, column: indentation.length + 1 },
      text: spaces,
    });
    return `${spaces}${rest}`;
  });
  if (edits.length === 0 || edits.length > MAX_FIXED_LINES) return undefined;
  return { text: lines.join('\n'), edits };
}
