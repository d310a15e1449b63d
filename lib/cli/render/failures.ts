import { stripVTControlCharacters } from 'node:util';
import { isBorne, type TaskFailure } from '../../common/errors.js';
import { formatCount, formatNumber, nameCall } from '../../common/text.js';
import type { RunRecord } from '../../runs/record.js';
import type { CallRecord } from '../../runs/tasks/task-record.js';
import { valueLines } from './outputs.js';
import type { Style, Terminal } from './terminal.js';
import { displayWidth, escapeControlCharacters, toSingleLine, truncateToWidth, wrapLine } from './text.js';

/** The calls that failed, as far as they are known beyond the record of their run (D59). */
export interface FailureDetails {
  /** The first failed calls, by the names of {@link nameCall}. */
  readonly calls: ReadonlyMap<string, CallRecord>;
  /** Why not all failed calls could be read. */
  readonly problem: string | undefined;
  /** Shows inputs and stacks whole. */
  readonly verbose: boolean;
}

export const NO_DETAILS: FailureDetails = { calls: new Map(), problem: undefined, verbose: false };

/** The most failures that are shown. */
const MAX_FAILURES = 50;

/** The failures; of a run that no task has failed, its error before them. */
export function errorLines(
  { failures, error, failed_task: failedTask }: RunRecord,
  terminal: Terminal,
  seeAll: string,
  details: FailureDetails,
): string[] {
  const lines = failureLines(failures, terminal, seeAll, details);
  if (failedTask !== null || error === null) return lines;
  return [...wrapLine(`  ${terminal.style.red(toSingleLine(error))}`, terminal), ...lines];
}

function problemLines({ problem }: FailureDetails, terminal: Terminal): string[] {
  return problem === undefined
    ? []
    : wrapLine(`  its values cannot be read: ${toSingleLine(problem)}`, terminal);
}

/**
 * The failures, with the inputs of the first ones and where their tools threw; those of items that failed alike are one,
 * unless everything is to be shown:
 *
 * ```
 *   report/write[3, 4, 9] (3 items) after 2 attempts: connection refused
 *     inputs: {"path": "report.md"}
 *     at write (/home/ada/tools.ts:12:11)
 * ```
 *
 * @param seeAll how to get the failures that are not shown
 */
export function failureLines(
  failures: readonly TaskFailure[],
  terminal: Terminal,
  seeAll: string,
  details: FailureDetails = NO_DETAILS,
): string[] {
  const { calls, verbose } = details;
  const groups = groupFailures(failures, verbose);
  const shown = groups.slice(0, MAX_FAILURES);
  const hidden = groups.slice(shown.length).reduce((sum, { count }) => sum + count, 0);
  return [
    ...shown.flatMap((group) => [
      ...wrapLine(formatFailure(group, terminal.style), terminal),
      ...furtherLines(group.first.error, terminal),
      ...placeLines(group.first.error, terminal),
      ...callLines(group.first, calls.get(nameCall(group.first)), verbose, terminal),
    ]),
    ...(hidden > 0 ? wrapLine(`  … ${formatNumber(hidden)} more; ${seeAll}`, terminal) : []),
    ...problemLines(details, terminal),
  ];
}

/** Puts the failures that failed the run before those that were collected or tolerated (D67, D79). */
export function causesFirst(failures: readonly TaskFailure[]): readonly TaskFailure[] {
  return failures.toSorted((a, b) => Number(isBorne(a)) - Number(isBorne(b)));
}

interface FailureGroup {
  readonly first: TaskFailure;
  readonly items: number[];
  count: number;
}

const MAX_ITEMS = 10;

/** Joins the failures of items that differ in nothing else, those that failed the run before those that were collected. */
export function groupFailures(failures: readonly TaskFailure[], single: boolean): readonly FailureGroup[] {
  const groups = new Map<unknown, FailureGroup>();
  for (const first of causesFirst(failures)) {
    const { sub_pipeline: part, task_id: taskId, item, error, attempts, collected } = first;
    const isAlone = single || item === undefined;
    const key = isAlone ? first : JSON.stringify([part, taskId, error, attempts, collected]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first, items: item === undefined ? [] : [item], count: 1 });
    else {
      group.count += 1;
      if (item !== undefined && group.items.length < MAX_ITEMS) group.items.push(item);
    }
  }
  return [...groups.values()];
}

function formatFailure({ first, items, count }: FailureGroup, style: Style): string {
  const { attempts, error, collected, tolerated, item: _, ...task } = first;
  const indexes = items.toSorted((a, b) => a - b).join(', ') + (count > items.length ? ', …' : '');
  const call = count === 1 ? nameCall(first) : `${nameCall(task)}[${indexes}]`;
  const name = (isBorne(first) ? style.yellow : style.red)(call);
  const notes = [
    ...(collected ? ['collected'] : []),
    ...(tolerated ? ['tolerated'] : []),
    ...(count > 1 ? [formatCount(count, 'item')] : []),
  ];
  const tries = attempts === 0 ? 'before its first attempt' : `after ${formatCount(attempts, 'attempt')}`;
  const [message = ''] = error.replace(PLACE, '').split('\n', 1);
  return `  ${name}${notes.length === 0 ? '' : ` (${notes.join(', ')})`} ${tries}: ${toSingleLine(message)}`;
}

const INDENT = '    ';

/** The most lines that are shown of one message. */
const MAX_LINES = 50;

/** Shows the lines of a message after the first, such as the last ones that a program has written. */
function furtherLines(error: string, terminal: Terminal): string[] {
  const [, ...all] = error.replace(PLACE, '').split('\n');
  const hidden = all.length - MAX_LINES;
  // The last lines of a program say why it has failed.
  const lines = hidden > 0 ? [`… ${formatNumber(hidden)} lines`, ...all.slice(hidden)] : all;
  return lines.flatMap((line) => {
    const shown = escapeControlCharacters(stripVTControlCharacters(line));
    return wrapLine(terminal.style.dim(INDENT + shown), terminal);
  });
}

/** Two lines at the end of a message: one of an expression, and carets under the place of the error. */
const PLACE = /\n {2}([^\n]*)\n {2}([ \t]*\^+)$/;

/** Shows the place of an error in an expression, as far as it fits: on lines that wrap, carets would mean nothing. */
function placeLines(error: string, { interactive, columns, style }: Terminal): string[] {
  const [, line, carets] = PLACE.exec(error) ?? [];
  if (line === undefined || carets === undefined) return [];
  const lines = [escapeControlCharacters(stripVTControlCharacters(line)), carets].map(
    (part) => INDENT + part,
  );
  const isTooWide = interactive && lines.some((part) => displayWidth(part) >= columns);
  return isTooWide ? [] : lines.map(style.dim);
}

function callLines(
  { error }: TaskFailure,
  call: CallRecord | undefined,
  verbose: boolean,
  terminal: Terminal,
): string[] {
  if (call === undefined) return [];
  const { inputs, inputs_error: problem } = call;
  const lines = stackLines(call.error?.stack, verbose).map((line) => INDENT + line);
  if (inputs !== null) {
    const columns = Math.max(20, Math.min(terminal.columns - 1, MAX_COLUMNS));
    lines.unshift(...cutLines(valueLines('inputs', inputs, INDENT, columns), verbose, terminal));
  } else if (problem !== null && problem !== error) {
    lines.unshift(...wrapLine(`${INDENT}its inputs are not known: ${toSingleLine(problem)}`, terminal));
  }
  return lines.map(terminal.style.dim);
}

const MAX_COLUMNS = 100;

/** Limits of the inputs of one call; with `--verbose` there are none. */
const MAX_LINES_ON_TERMINAL = 8;
const IN_FILE = { lines: 40, columns: 400 };

function cutLines(lines: Iterable<string>, verbose: boolean, { interactive, columns }: Terminal): string[] {
  const limits = interactive ? { lines: MAX_LINES_ON_TERMINAL, columns: Math.max(20, columns - 1) } : IN_FILE;
  const shown: string[] = [];
  for (const line of lines) {
    if (!verbose && shown.length === limits.lines) return [...shown, `${INDENT}  …`];
    const safe = escapeControlCharacters(line);
    shown.push(verbose ? safe : truncateToWidth(safe, limits.columns));
  }
  return shown;
}

/** Where the tool threw its error: its innermost call outside of Node.js, or the whole stack. */
export function stackLines(stack: string | undefined, whole: boolean): string[] {
  if (stack === undefined) return [];
  const lines = stack.split('\n').map(escapeControlCharacters);
  if (whole) return lines;
  const call = lines.find((line) => /^\s+at /.test(line) && !line.includes('node:'));
  return call === undefined ? [] : [call.trim()];
}
