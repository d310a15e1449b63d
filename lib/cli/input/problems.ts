import { formatCount } from '../../common/text.js';
import type { Problem } from '../../definition/problems/problem.js';
import type { CliContext } from '../context.js';
import { codeFrame } from '../render/code-frame.js';
import { detectTerminal, type Style, type Terminal } from '../render/terminal.js';
import { toSingleLine, wrapLine } from '../render/text.js';
import type { DefinitionFile } from './load-definition.js';

/** A terminal shows this many problems; a file or a pipe gets all of them. */
const MAX_SHOWN = 30;

interface CheckedText extends Pick<DefinitionFile, 'name' | 'text' | 'files'> {
  readonly check: { readonly ok: boolean; readonly problems: readonly Problem[] };
}

/** Prints the errors and warnings of a definition on standard error. Prints nothing if there are none. */
export function printProblems(loaded: CheckedText, { stderr, env }: CliContext): void {
  const { name, check } = loaded;
  if (check.problems.length === 0) return;
  const terminal = detectTerminal(stderr, env);
  const { style } = terminal;
  const shown = terminal.interactive ? check.problems.slice(0, MAX_SHOWN) : check.problems;
  const hidden = check.problems.length - shown.length;
  const findSource = createSourceFinder(loaded);
  const lines = [
    ...shown.flatMap((problem) => formatProblem(problem, findSource(problem.file), terminal)),
    ...(hidden > 0 ? [...wrapLine(`… ${hidden} more; --json shows them all`, terminal), ''] : []),
    formatCounts(check.problems, style),
    ...(check.ok ? [] : wrapLine(`${style.red(style.marks.failed)} ${name} is not valid`, terminal)),
  ];
  stderr.write(`${lines.join('\n')}\n`);
}

interface SourceFile {
  readonly name: string;
  readonly lines: readonly string[];
}

/** Returns a function that finds the file of a problem, undefined for the definition itself. Splits each text once. */
function createSourceFinder(loaded: CheckedText): (file: string | undefined) => SourceFile {
  const sources = new Map<string | undefined, SourceFile>();
  return (file) => {
    let source = sources.get(file);
    if (source === undefined) {
      const { name, text } =
        file === undefined ? loaded : (loaded.files.get(file) ?? { name: file, text: '' });
      source = { name, lines: text.split('\n') };
      sources.set(file, source);
    }
    return source;
  };
}

/**
 * Formats a problem with its position, its line and a hint:
 *
 * ```
 * demo.yaml:4:11 error: there is no tool "mok"
 *     4 |     tool: mok
 *       |           ^^^
 *   hint: did you mean "mock"?
 * ```
 */
function formatProblem(
  { severity, message, hint, path, line, column = 1 }: Problem,
  { name, lines }: SourceFile,
  terminal: Terminal,
): string[] {
  const { style, columns } = terminal;
  const paint = severity === 'error' ? style.red : style.yellow;
  const location = toSingleLine(line === undefined ? name : `${name}:${line}:${column}`);
  const suffix = line === undefined && path !== '' ? ` (at ${toSingleLine(path)})` : '';
  const [code, caret] = line === undefined ? [] : codeFrame(lines, { line, column }, columns);
  return [
    ...wrapLine(`${style.bold(location)} ${paint(severity)}: ${toSingleLine(message)}${suffix}`, terminal),
    ...(code === undefined ? [] : [style.dim(code)]),
    ...(caret === undefined ? [] : [paint(caret)]),
    ...(hint === undefined ? [] : wrapLine(`  ${style.cyan('hint:')} ${toSingleLine(hint)}`, terminal)),
    '',
  ];
}

function formatCounts(problems: readonly Problem[], style: Style): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [
    ...(errors > 0 ? [style.red(formatCount(errors, 'error'))] : []),
    ...(warnings > 0 ? [style.yellow(formatCount(warnings, 'warning'))] : []),
  ];
  return counts.join(', ');
}
