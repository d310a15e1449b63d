import type { Json, JsonObject } from '../../common/json.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import type { RunFlags } from '../run/options.js';
import { summaryLine } from './run-summary.js';
import { printJson } from './stdout.js';
import { type Style, styleOf, type Terminal, terminalOf } from './terminal.js';
import { clip, plural, printable, screenLines } from './text.js';

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

/** Deeper values stay on one line: indenting them further helps nobody. */
const DEEPEST = 16;

/**
 * A named value as lines of YAML. What fits into `columns` stays on one line, as JSON; text of several lines is
 * shown as it is. Lines are made one by one, so a reader that has seen enough stops and pays for no more.
 */
export function valueLines(name: string, value: Json, indent: string, columns: number): Generator<string> {
  return entry(`${indent}${keyOf(name)}:`, ' ', value, indent, { columns, depth: 0 });
}

interface Room {
  readonly columns: number;
  readonly depth: number;
}

/** `head` is the key or the dash; `gap` stands between it and a value on the same line. */
function* entry(head: string, gap: string, value: Json, indent: string, room: Room): Generator<string> {
  if (isBlock(value)) {
    yield `${head}${gap}${blockHeader(value)}`;
    yield* blockLines(value, `${indent}  `);
    return;
  }
  const flat = oneLineOf(value, room.columns - head.length - 1, room.depth);
  if (flat !== undefined) {
    yield `${head}${gap}${flat}`;
    return;
  }
  const lines = children(value, `${indent}  `, { ...room, depth: room.depth + 1 });
  yield head.endsWith('-') ? `${head} ${firstOf(lines).slice(head.length + 1)}` : head;
  yield* lines;
}

/** The first member of a list's element stands on the line of its dash. */
function firstOf(lines: Generator<string>): string {
  const { value } = lines.next();
  return typeof value === 'string' ? value : '';
}

function* children(value: Json, indent: string, room: Room): Generator<string> {
  if (Array.isArray(value) && value.every(isFlat)) {
    yield* filledLines(value, indent, room.columns);
  } else if (Array.isArray(value)) {
    for (const element of value) yield* entry(`${indent}-`, ' ', element, indent, room);
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      yield* entry(`${indent}${keyOf(key)}:`, ' ', member, indent, room);
    }
  }
}

function isFlat(value: Json): boolean {
  return typeof value === 'string'
    ? blockHeader(value) === undefined
    : typeof value !== 'object' || value === null;
}

/** A list of plain values, as many to a line as fit. */
function* filledLines(values: readonly Json[], indent: string, columns: number): Generator<string> {
  let line = `${indent}[`;
  for (const [index, value] of values.entries()) {
    const piece = `${JSON.stringify(value)}${index === values.length - 1 ? ']' : ','}`;
    const isFirst = line.length === indent.length + 1;
    if (!isFirst && line.length + 1 + piece.length > columns) {
      yield line;
      line = `${indent} ${piece}`;
    } else {
      line += isFirst ? piece : ` ${piece}`;
    }
  }
  yield line;
}

/** The value on one line; undefined when it does not fit and can be broken. */
function oneLineOf(value: Json, room: number, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth >= DEEPEST) return JSON.stringify(value);
  const pieces: string[] = [];
  return append(pieces, value, Math.max(room, 2)) >= 0 ? pieces.join('') : undefined;
}

/** Appends the value as JSON with spaces; answers the room that is left, negative as soon as there is none. */
function append(pieces: string[], value: Json, room: number): number {
  if (Array.isArray(value)) return appendList(pieces, value, room);
  return isObject(value) ? appendObject(pieces, value, room) : put(pieces, JSON.stringify(value), room);
}

function appendList(pieces: string[], list: readonly Json[], room: number): number {
  let left = put(pieces, '[', room);
  for (const [index, element] of list.entries()) {
    if (left < 0) return left;
    if (index > 0) left = put(pieces, ', ', left);
    left = append(pieces, element, left);
  }
  return put(pieces, ']', left);
}

function appendObject(pieces: string[], object: JsonObject, room: number): number {
  let left = put(pieces, '{', room);
  for (const [index, [key, member]] of Object.entries(object).entries()) {
    if (left < 0) return left;
    left = put(pieces, `${index > 0 ? ', ' : ''}${JSON.stringify(key)}: `, left);
    left = append(pieces, member, left);
  }
  return put(pieces, '}', left);
}

function put(pieces: string[], text: string, room: number): number {
  pieces.push(text);
  return room - text.length;
}

// oxlint-disable-next-line no-control-regex -- text with any of these is quoted instead
const QUOTED_ONLY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/u;

/** Text of several lines that YAML can show as it is; it must not begin with blanks. */
function isBlock(value: Json): value is string {
  if (typeof value !== 'string' || !value.includes('\n')) return false;
  return /^\n*[^\s]/.test(value) && !value.endsWith('\n\n') && !QUOTED_ONLY.test(value);
}

/** `-`: no line end closes the text. */
function blockHeader(text: string): string {
  return text.endsWith('\n') ? '|' : '|-';
}

function* blockLines(text: string, indent: string): Generator<string> {
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  for (const line of body.split('\n')) yield line === '' ? '' : indent + line;
}

/** Words that YAML would read as something else than text. */
const NOT_TEXT = /^(null|true|false|yes|no|on|off|y|n)$/i;

/** A name as a key of YAML. */
export function keyOf(name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) && !NOT_TEXT.test(name) ? name : JSON.stringify(name);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Tells how a run ended: its outputs on standard output, anything else on standard error. */
export function tellEnd(
  record: RunRecord,
  failures: (record: RunRecord, style: Style, terminal: Terminal) => string[],
  flags: RunFlags,
  context: CliContext,
): void {
  const terminal = terminalOf(context.stderr, context.env);
  const style = styleOf(terminal);
  const { result } = record;
  const summarised = flags.verbose || (terminal.redraws && !flags.json && !flags.quiet);
  const about = result === null ? failures(record, style, terminal) : [];
  const lines =
    result === null || summarised ? [...screenLines(summaryLine(record, style), terminal), ...about] : [];
  if (lines.length > 0) context.stderr.write(`${lines.join('\n')}\n`);
  if (result === null) return;
  if (flags.json) printJson(outputOf(record), context);
  else printOutcome(result, context);
}

/** What `--json` prints of a run that succeeded: the outputs of a pipeline (D41), the result of a plan (D47). */
export function outputOf({ result, events }: RunRecord): unknown {
  return result?.plan_id === undefined ? result?.outputs : { ...result, events };
}
