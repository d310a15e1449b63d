import type { Problem } from '../definition/problem.js';
import { excerpt } from './excerpt.js';
import { oneLine } from './printable.js';
import type { Style } from './style.js';
import type { Terminal } from './terminal.js';
import { plural } from './words.js';

/** Where problems are shown and what they are about. */
export interface ProblemView {
  /** Of the file, for `file:line:column`. */
  readonly name: string;
  readonly text: string;
  readonly style: Style;
  readonly terminal: Terminal;
}

/** People do not read more; a file or pipe gets them all. */
const MOST_SHOWN = 30;

/**
 * Every problem with its place, its line and what to do about it, in the order given; a count at the end:
 *
 * ```
 * demo.yaml:4:11 error: there is no tool "mok"
 *     4 |     tool: mok
 *       |           ^^^
 *   hint: did you mean "mock"?
 * ```
 */
export function problemLines(problems: readonly Problem[], view: ProblemView): string[] {
  const shown = view.terminal.interactive ? problems.slice(0, MOST_SHOWN) : problems;
  const lines = view.text.split('\n');
  const more = problems.length - shown.length;
  return [
    ...shown.flatMap((problem) => linesOf(problem, lines, view)),
    ...(more > 0 ? [`… ${more} more; --json shows them all`, ''] : []),
    countOf(problems, view.style),
  ];
}

function linesOf(
  problem: Problem,
  lines: readonly string[],
  { name, style, terminal }: ProblemView,
): string[] {
  const { severity, message, hint, line, column } = problem;
  const place = line === undefined ? undefined : { line, column: column ?? 1 };
  const where = place === undefined ? name : `${name}:${place.line}:${place.column}`;
  const kind = severity === 'error' ? style.red('error') : style.yellow('warning');
  const inside = place === undefined && problem.path !== '' ? ` (at ${oneLine(problem.path)})` : '';
  const [code, caret] = place === undefined ? [] : excerpt(lines, place, terminal.columns);
  return [
    `${style.bold(where)} ${kind}: ${oneLine(message)}${inside}`,
    ...(code === undefined ? [] : [style.dim(code)]),
    ...(caret === undefined ? [] : [severity === 'error' ? style.red(caret) : style.yellow(caret)]),
    ...(hint === undefined ? [] : [`  ${style.cyan('hint:')} ${oneLine(hint)}`]),
    '',
  ];
}

function countOf(problems: readonly Problem[], style: Style): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [
    ...(errors > 0 ? [style.red(plural(errors, 'error'))] : []),
    ...(warnings > 0 ? [style.yellow(plural(warnings, 'warning'))] : []),
  ];
  return counts.join(', ');
}
