import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { formatCost, formatCount } from '../../common/text.js';
import type { ModelUsage } from '../../models/model.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { printJson } from './stdout.js';
import { detectTerminal, type Style, type Terminal } from './terminal.js';
import { escapeControlCharacters, truncateToWidth, wrapLine, wrapText } from './text.js';

type Result = NonNullable<RunRecord['result']>;

/** Limits of all that is printed without `--full`, on a terminal, and into a file or a pipe alike. */
const MAX_LINES_OF_VALUE = 12;
/** When the values of one task are shown. */
const MAX_LINES_OF_ONE = 40;
const MAX_VALUES = 50;
/** Stands for no limit. */
const WHOLE = Number.POSITIVE_INFINITY;

const MAX_COLUMNS = 100;
/** Bounds the memory for lines that are not yet written. */
const LINES_PER_WRITE = 1000;

/** Prints outputs, statistics and the blackboard of a plan as one YAML document, shortened unless it is to be `whole`. */
export function printOutputs(
  result: Result,
  usage: readonly ModelUsage[],
  whole: boolean,
  context: CliContext,
): void {
  const print = function* (formatter: OutputFormatter): Generator<string> {
    yield* resultLines(result, formatter);
    yield* usageLines(usage);
  };
  printLines(print, context, whole ? WHOLE : MAX_LINES_OF_VALUE);
}

/** Prints the outputs of a run that did not succeed, as far as there are any; of a plan by sub-pipeline. */
export function printPartialOutputs(
  outputs: JsonObject,
  isPlan: boolean,
  whole: boolean,
  context: CliContext,
): void {
  const print = function* (formatter: OutputFormatter): Generator<string> {
    yield formatter.style.bold(Object.keys(outputs).length === 0 ? 'Outputs: {}' : 'Outputs:');
    if (isPlan) yield* formatter.groups(Object.entries(outputs as Record<string, JsonObject>));
    else yield* formatter.values(outputs, 'task');
  };
  printLines(print, context, whole ? WHOLE : MAX_LINES_OF_VALUE);
}

/** Prints named values as YAML; long ones are shortened unless they are to be `whole`. */
export function printValues(
  values: Readonly<Record<string, Json>>,
  whole: boolean,
  context: CliContext,
): void {
  const print = function* (formatter: OutputFormatter): Generator<string> {
    yield* formatter.values(values, 'value', '');
  };
  printLines(print, context, whole ? WHOLE : MAX_LINES_OF_ONE);
}

/** Prints one output whole: a text as it is, anything else, and everything with `--json`, as JSON. */
export function printOutput(output: Json, json: boolean, context: CliContext): void {
  if (json || typeof output !== 'string') {
    printJson(output, context);
    return;
  }
  const { stdout, env } = context;
  const text = detectTerminal(stdout, env).interactive ? escapeControlCharacters(output) : output;
  stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

function printLines(
  format: (formatter: OutputFormatter) => Iterable<string>,
  { stdout, env }: CliContext,
  linesPerValue: number,
): void {
  const terminal = detectTerminal(stdout, env);
  const formatter = new OutputFormatter(terminal, linesPerValue);
  let lines: string[] = [];
  for (const line of format(formatter)) {
    lines.push(line);
    if (lines.length >= LINES_PER_WRITE) {
      stdout.write(`${lines.join('\n')}\n`);
      lines = [];
    }
  }
  if (formatter.hasShortened) {
    lines.push(...wrapLine(SHORTENED, terminal).map(terminal.style.dim));
  }
  if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`);
}

/** A comment of YAML. */
const SHORTENED = '# shortened: --full or --json prints everything';

function* resultLines(result: Result, formatter: OutputFormatter): Generator<string> {
  const { bold } = formatter.style;
  yield bold('Outputs:');
  if (result.plan_id === undefined) {
    yield* formatter.values(result.outputs, 'task');
    yield bold('Stats:');
    yield `  waves_executed: ${result.waves_executed}`;
    yield `  tasks_executed: ${result.tasks_executed}`;
  } else {
    const { sub_results, blackboard } = result;
    yield* formatter.groups(Object.entries(sub_results).map(([id, { outputs }]) => [id, outputs] as const));
    // The blackboard at the end of the run (D47).
    yield bold(Object.keys(blackboard).length === 0 ? 'Blackboard: {}' : 'Blackboard:');
    yield* formatter.values(blackboard, 'key');
    yield bold('Stats:');
    yield `  total_waves: ${result.total_waves}`;
    yield `  total_tasks_executed: ${result.total_tasks_executed}`;
  }
}

function* usageLines(usage: readonly ModelUsage[]): Generator<string> {
  if (usage.length > 0) yield '  models:';
  for (const { model, requests, input_tokens: input, output_tokens: output, cost } of usage) {
    const paid = cost === undefined ? '' : `, cost: ${formatCost(cost)}`;
    yield `    ${model}: {requests: ${requests}, input_tokens: ${input}, output_tokens: ${output}${paid}}`;
  }
  const costs = usage.flatMap((used) => used.cost ?? []);
  if (costs.length > 1) yield `  cost: ${formatCost(costs.reduce((sum, cost) => sum + cost, 0))}`;
}

class OutputFormatter {
  readonly style: Style;
  hasShortened = false;
  readonly #isTerminal: boolean;
  readonly #shortens: boolean;
  readonly #columns: number;
  readonly #linesPerValue: number;

  /** @param linesPerValue limit of one value; with `WHOLE` nothing is shortened */
  constructor({ interactive, columns, style }: Terminal, linesPerValue: number) {
    this.style = style;
    this.#isTerminal = interactive;
    this.#shortens = linesPerValue !== WHOLE;
    this.#linesPerValue = linesPerValue;
    this.#columns = interactive ? Math.max(20, columns - 1) : MAX_COLUMNS;
  }

  /** @param noun names a value in `… 7 more tasks` */
  *values(values: Readonly<Record<string, Json>>, noun: string, indent = '  '): Generator<string> {
    yield* this.#entries(Object.entries(values), indent, noun, MAX_VALUES);
  }

  *groups(groups: readonly (readonly [string, Readonly<Record<string, Json>>])[]): Generator<string> {
    let remaining = MAX_VALUES;
    for (const [index, [name, values]] of groups.entries()) {
      if (this.#shortens && remaining <= 0) {
        yield this.#more(groups.length - index, 'sub-pipeline', '  ');
        return;
      }
      const entries = Object.entries(values);
      yield `  ${this.style.cyan(toYamlKey(name))}:${entries.length === 0 ? ' {}' : ''}`;
      yield* this.#entries(entries, '    ', 'task', remaining);
      remaining -= Math.max(1, entries.length);
    }
  }

  *#entries(
    entries: readonly (readonly [string, Json])[],
    indent: string,
    noun: string,
    most: number,
  ): Generator<string> {
    const shown = this.#shortens ? entries.slice(0, most) : entries;
    for (const [name, value] of shown) {
      if (this.#shortens) yield* this.#shortened(name, value, indent);
      else for (const line of valueLines(name, value, indent, MAX_COLUMNS)) yield this.#toSafe(line);
    }
    if (entries.length > shown.length) yield this.#more(entries.length - shown.length, noun, indent);
  }

  *#shortened(name: string, value: Json, indent: string): Generator<string> {
    let count = 0;
    const columns = Math.min(this.#columns, MAX_COLUMNS);
    for (const line of this.#foldedLines(name, value, indent, columns)) {
      count += 1;
      if (count > this.#linesPerValue) break;
      const shown = truncateToWidth(this.#toSafe(line), this.#columns);
      this.hasShortened ||= shown.endsWith('…') && !line.endsWith('…');
      yield count === 1 ? this.#styleKey(shown, `${indent}${name}`) : shown;
    }
    if (count > this.#linesPerValue) {
      this.hasShortened = true;
      yield this.style.dim(`${indent}  …`);
    }
  }

  /** A text that is too long for its line is wrapped at words, as a folded scalar of YAML. */
  #foldedLines(name: string, value: Json, indent: string, columns: number): Iterable<string> {
    const isLong = typeof value === 'string' && value.length > columns - indent.length - name.length - 4;
    if (!isLong || !/^\S+ .*\S$/.test(value)) return valueLines(name, value, indent, columns);
    const head = `${indent}${toYamlKey(name)}: >-`;
    // Twice as much as is shown: a wide character takes two columns.
    const visible = value.slice(0, 2 * columns * (this.#linesPerValue + 1));
    const lines = wrapText(visible, Math.max(20, columns - indent.length - 2));
    return [head, ...lines.map((line) => `${indent}  ${line}`)];
  }

  /** A file or pipe gets control characters as they are. */
  #toSafe(line: string): string {
    return this.#isTerminal ? escapeControlCharacters(line) : line;
  }

  #styleKey(line: string, head: string): string {
    if (!line.startsWith(`${head}:`)) return line;
    const name = head.trimStart();
    return head.slice(0, head.length - name.length) + this.style.cyan(name) + line.slice(head.length);
  }

  #more(count: number, noun: string, indent: string): string {
    this.hasShortened = true;
    return this.style.dim(`${indent}… ${formatCount(count, `more ${noun}`)}`);
  }
}

/** Values nested deeper stay on one line, since indenting them further does not help a reader. */
const MAX_DEPTH = 16;

/**
 * Formats a named value as YAML. A value that fits into `columns` stays on one line, as JSON; text of several lines
 * becomes a block scalar. The lines are generated lazily, so a reader that stops early pays for no more.
 */
export function valueLines(name: string, value: Json, indent: string, columns: number): Generator<string> {
  return entryLines(`${indent}${toYamlKey(name)}:`, value, indent, { columns, depth: 0 });
}

interface Layout {
  readonly columns: number;
  readonly depth: number;
}

/** @param head the key with its colon, or the dash of a list element */
function* entryLines(head: string, value: Json, indent: string, layout: Layout): Generator<string> {
  if (isBlock(value)) {
    yield `${head} ${blockHeader(value)}`;
    yield* blockLines(value, `${indent}  `);
    return;
  }
  const flat = formatOnOneLine(value, layout.columns - head.length - 1, layout.depth);
  if (flat !== undefined) {
    yield `${head} ${flat}`;
    return;
  }
  let isOnLineOfDash = head.endsWith('-');
  if (!isOnLineOfDash) yield head;
  for (const line of childLines(value, `${indent}  `, { ...layout, depth: layout.depth + 1 })) {
    // Only the first line of a list element.
    yield isOnLineOfDash ? `${head} ${line.slice(head.length + 1)}` : line;
    isOnLineOfDash = false;
  }
}

function* childLines(value: Json, indent: string, layout: Layout): Generator<string> {
  if (Array.isArray(value) && value.every(isShort)) {
    yield* filledLines(value, indent, layout.columns);
  } else if (Array.isArray(value)) {
    for (const element of value) yield* entryLines(`${indent}-`, element, indent, layout);
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      yield* entryLines(`${indent}${toYamlKey(key)}:`, member, indent, layout);
    }
  }
}

/** Numbers, booleans and null share a line; each string gets its own. */
function isShort(value: Json): boolean {
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

/** Fills each line with as many elements as fit. */
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

/** Returns undefined for a list or an object that does not fit into `columns`. */
function formatOnOneLine(value: Json, columns: number, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return JSON.stringify(value);
  const pieces: string[] = [];
  return append(pieces, value, Math.max(columns, 2)) >= 0 ? pieces.join('') : undefined;
}

/** Appends the value as JSON with spaces. Returns the columns that are left and stops when they are negative. */
function append(pieces: string[], value: Json, columns: number): number {
  if (Array.isArray(value)) return appendList(pieces, value, columns);
  if (isObject(value)) return appendObject(pieces, value, columns);
  return appendText(pieces, JSON.stringify(value), columns);
}

function appendList(pieces: string[], list: readonly Json[], columns: number): number {
  let left = appendText(pieces, '[', columns);
  for (const [index, element] of list.entries()) {
    if (left < 0) return left;
    if (index > 0) left = appendText(pieces, ', ', left);
    left = append(pieces, element, left);
  }
  return appendText(pieces, ']', left);
}

function appendObject(pieces: string[], object: JsonObject, columns: number): number {
  let left = appendText(pieces, '{', columns);
  for (const [index, [key, member]] of Object.entries(object).entries()) {
    if (left < 0) return left;
    left = appendText(pieces, `${index > 0 ? ', ' : ''}${JSON.stringify(key)}: `, left);
    left = append(pieces, member, left);
  }
  return appendText(pieces, '}', left);
}

function appendText(pieces: string[], text: string, columns: number): number {
  pieces.push(text);
  return columns - text.length;
}

// oxlint-disable-next-line no-control-regex -- such text must be quoted
const QUOTED_ONLY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/u;

/** Text that YAML can write as a block scalar: several lines, the first not indented. */
function isBlock(value: Json): value is string {
  if (typeof value !== 'string' || !value.includes('\n')) return false;
  return /^\n*[^\s]/.test(value) && !value.endsWith('\n\n') && !QUOTED_ONLY.test(value);
}

/** The `-` marks text that does not end with a line break. */
function blockHeader(text: string): string {
  return text.endsWith('\n') ? '|' : '|-';
}

function* blockLines(text: string, indent: string): Generator<string> {
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  for (const line of body.split('\n')) yield line === '' ? '' : indent + line;
}

/** YAML reads these as null or booleans. */
const RESERVED = /^(null|true|false|yes|no|on|off|y|n)$/i;

function toYamlKey(name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) && !RESERVED.test(name) ? name : JSON.stringify(name);
}
