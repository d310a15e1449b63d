import type { CliContext } from './context.js';
import type { Preparation } from './prepared.js';
import { problemLines } from './problem-list.js';
import { styleOf } from './style.js';
import { terminalOf } from './terminal.js';

/** Shows errors and warnings on standard error; nothing when there are none. */
export function tellProblems({ check, name, text, files }: Preparation, { stderr, env }: CliContext): void {
  if (check.problems.length === 0) return;
  const terminal = terminalOf(stderr, env);
  const style = styleOf(terminal);
  const lines = problemLines(check.problems, { name, text, files, style, terminal });
  if (!check.ok) lines.push(`${style.red(style.marks.failed)} ${name} is not valid`);
  stderr.write(`${lines.join('\n')}\n`);
}
