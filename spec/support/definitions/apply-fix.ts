import type { Fix, Position } from '../../../lib/definition/problems/problem.js';

/** Does the edits of a fix. */
export function applyFix(text: string, { edits }: Fix): string {
  const lines = text.split('\n');
  const toOffset = ({ line, column }: Position): number =>
    lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0) + column - 1;
  const sorted = edits.toSorted((a, b) => toOffset(b.from) - toOffset(a.from));
  return sorted.reduce(
    (fixed, { from, to, text: part }) => fixed.slice(0, toOffset(from)) + part + fixed.slice(toOffset(to)),
    text,
  );
}
