import type { RunRecord } from '../../runs/record.js';
import type { Json } from '../../common/json.js';
import type { CliContext } from '../context.js';
import { printable } from '../printable.js';
import { type Style, styleOf } from '../style.js';
import { type Terminal, terminalOf } from '../terminal.js';
import { clip } from '../width.js';
import { plural } from '../words.js';
import { keyOf, valueLines } from './value-lines.js';

type Outcome = NonNullable<RunRecord['result']>;

/** What people get to see on a terminal; a file or pipe gets everything. */
const MOST_LINES = 12;
const MOST_VALUES = 50;
const COLUMNS = 100;
/** Written at once: enough to be quick, little enough to be held. */
const LINES_AT_ONCE = 1000;

/** Prints outputs and statistics, and of a plan the blackboard, as one YAML document, shortened on a terminal alone. */
export function printOutcome(outcome: Outcome, { stdout, env }: CliContext): void {
  const terminal = terminalOf(stdout, env);
  let lines: string[] = [];
  for (const line of outcomeLines(outcome, new Page(terminal, styleOf(terminal)))) {
    lines.push(line);
    if (lines.length >= LINES_AT_ONCE) {
      stdout.write(`${lines.join('\n')}\n`);
      lines = [];
    }
  }
  stdout.write(`${lines.join('\n')}\n`);
}

function* outcomeLines(outcome: Outcome, page: Page): Generator<string> {
  const { bold, dim } = page.style;
  yield bold('Outputs:');
  if (outcome.plan_id === undefined) {
    yield* page.values(outcome.outputs, '  ', 'task');
    yield bold('Stats:');
    yield `  waves_executed: ${outcome.waves_executed}`;
    yield `  tasks_executed: ${outcome.tasks_executed}`;
  } else {
    yield* planLines(outcome, page);
    yield bold('Stats:');
    yield `  total_waves: ${outcome.total_waves}`;
    yield `  total_tasks_executed: ${outcome.total_tasks_executed}`;
  }
  if (page.shortened) yield dim('shortened for the terminal: --json, a pipe or a file gets all of it');
}

/** The outputs of each sub-pipeline under its id, and what stands on the blackboard at the end (D47). */
function* planLines(
  { sub_results, blackboard }: Extract<Outcome, { plan_id: string }>,
  page: Page,
): Generator<string> {
  yield* page.groups(Object.entries(sub_results).map(([id, { outputs }]) => [id, outputs] as const));
  yield page.style.bold(Object.keys(blackboard).length === 0 ? 'Blackboard: {}' : 'Blackboard:');
  yield* page.values(blackboard, '  ', 'key');
}

/** Lines as they are, or on a terminal no more than people read. */
class Page {
  readonly style: Style;
  /** Whether anything was left out. */
  shortened = false;
  readonly #isShort: boolean;
  readonly #columns: number;

  constructor(terminal: Terminal, style: Style) {
    this.style = style;
    this.#isShort = terminal.interactive;
    this.#columns = Math.max(20, terminal.columns - 1);
  }

  /** Named values, indented by `indent`. */
  *values(values: Readonly<Record<string, Json>>, indent: string, noun: string): Generator<string> {
    yield* this.#values(Object.entries(values), indent, noun, MOST_VALUES);
  }

  /** Named groups of values. */
  *groups(groups: readonly (readonly [string, Readonly<Record<string, Json>>])[]): Generator<string> {
    let room = MOST_VALUES;
    for (const [index, [name, values]] of groups.entries()) {
      if (this.#isShort && room <= 0) {
        yield this.#more(groups.length - index, 'sub-pipeline', '  ');
        return;
      }
      const entries = Object.entries(values);
      yield `  ${this.style.cyan(keyOf(name))}:${entries.length === 0 ? ' {}' : ''}`;
      yield* this.#values(entries, '    ', 'task', room);
      room -= Math.max(1, entries.length);
    }
  }

  *#values(
    entries: readonly (readonly [string, Json])[],
    indent: string,
    noun: string,
    most: number,
  ): Generator<string> {
    const shown = this.#isShort ? entries.slice(0, most) : entries;
    for (const [name, value] of shown) {
      if (this.#isShort) yield* this.#shortened(name, value, indent);
      else yield* valueLines(name, value, indent, COLUMNS);
    }
    if (entries.length > shown.length) yield this.#more(entries.length - shown.length, noun, indent);
  }

  *#shortened(name: string, value: Json, indent: string): Generator<string> {
    let count = 0;
    for (const line of valueLines(name, value, indent, Math.min(this.#columns, COLUMNS))) {
      count += 1;
      if (count > MOST_LINES) break;
      const shown = clip(printable(line), this.#columns);
      this.shortened ||= shown.endsWith('…') && !line.endsWith('…');
      yield count === 1 ? this.#paintKey(shown, `${indent}${name}`) : shown;
    }
    this.shortened ||= count > MOST_LINES;
    if (count > MOST_LINES) yield this.style.dim(`${indent}  …`);
  }

  #paintKey(line: string, head: string): string {
    const name = head.trimStart();
    if (!line.startsWith(`${head}:`)) return line;
    return `${head.slice(0, head.length - name.length)}${this.style.cyan(name)}${line.slice(head.length)}`;
  }

  #more(count: number, noun: string, indent: string): string {
    this.shortened = true;
    return this.style.dim(`${indent}… ${plural(count, `more ${noun}`)}`);
  }
}
