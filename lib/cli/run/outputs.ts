import type { RunOutcome } from '../../execution/result.js';
import type { CliContext } from '../context.js';
import { printable } from '../printable.js';
import { type Style, styleOf } from '../style.js';
import { type Terminal, terminalOf } from '../terminal.js';
import { clip } from '../width.js';
import { plural } from '../words.js';
import { valueLines } from './value-lines.js';

/** What people get to see on a terminal; a file or pipe gets everything. */
const MOST_LINES = 12;
const MOST_TASKS = 50;
const COLUMNS = 100;
/** Written at once: enough to be quick, little enough to be held. */
const LINES_AT_ONCE = 1000;

/** Prints Outputs and Stats as one YAML document, shortened on a terminal alone. */
export function printOutcome(outcome: RunOutcome, { stdout, env }: CliContext): void {
  const terminal = terminalOf(stdout, env);
  let lines: string[] = [];
  for (const line of outcomeLines(outcome, terminal, styleOf(terminal))) {
    lines.push(line);
    if (lines.length >= LINES_AT_ONCE) {
      stdout.write(`${lines.join('\n')}\n`);
      lines = [];
    }
  }
  stdout.write(`${lines.join('\n')}\n`);
}

function* outcomeLines(outcome: RunOutcome, terminal: Terminal, style: Style): Generator<string> {
  yield style.bold('Outputs:');
  const shortened = yield* terminal.interactive ? shortLines(outcome, terminal, style) : allLines(outcome);
  yield style.bold('Stats:');
  yield `  waves_executed: ${outcome.waves_executed}`;
  yield `  tasks_executed: ${outcome.tasks_executed}`;
  if (shortened) yield style.dim('shortened for the terminal: --json, a pipe or a file gets all of it');
}

function* allLines({ outputs }: RunOutcome): Generator<string, boolean> {
  for (const [taskId, output] of Object.entries(outputs)) yield* valueLines(taskId, output, '  ', COLUMNS);
  return false;
}

/** @returns whether anything was left out. */
function* shortLines({ outputs }: RunOutcome, terminal: Terminal, style: Style): Generator<string, boolean> {
  const columns = Math.max(20, terminal.columns - 1);
  const entries = Object.entries(outputs);
  let shortened = entries.length > MOST_TASKS;
  for (const [taskId, output] of entries.slice(0, MOST_TASKS)) {
    let count = 0;
    for (const line of valueLines(taskId, output, '  ', Math.min(columns, COLUMNS))) {
      count += 1;
      if (count > MOST_LINES) break;
      const shown = clip(printable(line), columns);
      shortened ||= shown.endsWith('…') && !line.endsWith('…');
      yield count === 1 ? paintKey(shown, taskId, style) : shown;
    }
    shortened ||= count > MOST_LINES;
    if (count > MOST_LINES) yield style.dim('    …');
  }
  if (entries.length > MOST_TASKS) yield style.dim(`  … ${plural(entries.length - MOST_TASKS, 'more task')}`);
  return shortened;
}

function paintKey(line: string, taskId: string, style: Style): string {
  return line.startsWith(`  ${taskId}:`) ? `  ${style.cyan(taskId)}${line.slice(taskId.length + 2)}` : line;
}
