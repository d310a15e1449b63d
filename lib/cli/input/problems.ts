import type { Problem } from '../../definition/problem.js';
import type { CliContext } from '../context.js';
import { excerpt } from '../render/excerpt.js';
import { type Style, styleOf, type Terminal, terminalOf } from '../render/terminal.js';
import { oneLine, plural } from '../render/text.js';
import type { NamedText, Preparation } from './loaded-definition.js';

/** Where problems are shown and what they are about. */
interface ProblemView extends NamedText {
  /** Others that problems may stand in, by the name that problems give them. */
  readonly files: ReadonlyMap<string, NamedText>;
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
function problemLines(problems: readonly Problem[], view: ProblemView): string[] {
  const shown = view.terminal.interactive ? problems.slice(0, MOST_SHOWN) : problems;
  const source = sourceFinder(view);
  const more = problems.length - shown.length;
  return [
    ...shown.flatMap((problem) => linesOf(problem, source(problem.file), view)),
    ...(more > 0 ? [`… ${more} more; --json shows them all`, ''] : []),
    countOf(problems, view.style),
  ];
}

/** A text and its lines. */
interface SourceLines {
  readonly name: string;
  readonly lines: readonly string[];
}

/** Finds what a problem stands in; each text is taken apart once. */
function sourceFinder({ name, text, files }: ProblemView): (file: string | undefined) => SourceLines {
  const known = new Map<string | undefined, SourceLines>([[undefined, { name, lines: text.split('\n') }]]);
  return (file) => {
    const found = known.get(file);
    if (found !== undefined) return found;
    const other = files.get(file ?? '') ?? { name: file ?? '', text: '' };
    const source = { name: other.name, lines: other.text.split('\n') };
    known.set(file, source);
    return source;
  };
}

function linesOf(problem: Problem, { name, lines }: SourceLines, { style, terminal }: ProblemView): string[] {
  const { severity, message, hint, line, column } = problem;
  const place = line === undefined ? undefined : { line, column: column ?? 1 };
  const where = oneLine(place === undefined ? name : `${name}:${place.line}:${place.column}`);
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

/** Shows errors and warnings on standard error; nothing when there are none. */
export function tellProblems({ check, name, text, files }: Preparation, { stderr, env }: CliContext): void {
  if (check.problems.length === 0) return;
  const terminal = terminalOf(stderr, env);
  const style = styleOf(terminal);
  const lines = problemLines(check.problems, { name, text, files, style, terminal });
  if (!check.ok) lines.push(`${style.red(style.marks.failed)} ${name} is not valid`);
  stderr.write(`${lines.join('\n')}\n`);
}
