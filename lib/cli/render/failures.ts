import type { TaskFailure } from '../../common/errors.js';
import type { RunRecord } from '../../runs/record.js';
import type { CallRecord } from '../../runs/tasks/task-record.js';
import { valueLines } from './outputs.js';
import type { Style, Terminal } from './terminal.js';
import {
  escapeControlCharacters,
  formatCount,
  formatNumber,
  toSingleLine,
  truncateToWidth,
  wrapLine,
} from './text.js';

/** What is known of the calls that failed, beyond the record of their run (D59). */
export interface FailureDetails {
  /** Those of the first failures, in their order. */
  readonly calls: readonly CallRecord[];
  /** Why not all of them could be read. */
  readonly problem: string | undefined;
  /** Shows inputs and stacks whole. */
  readonly verbose: boolean;
}

export const NO_DETAILS: FailureDetails = { calls: [], problem: undefined, verbose: false };

/** Limit of a terminal; a file or pipe gets all failures. */
const MAX_FAILURES = 50;

/** The failures, or for a run that failed without a failed task, its error. */
export function errorLines(
  { failures, error }: RunRecord,
  terminal: Terminal,
  seeAll: string,
  details: FailureDetails,
): string[] {
  if (failures.length > 0 || error === null) return failureLines(failures, terminal, seeAll, details);
  return [
    ...wrapLine(`  ${terminal.style.red(toSingleLine(error))}`, terminal),
    ...problemLines(details, terminal),
  ];
}

function problemLines({ problem }: FailureDetails, terminal: Terminal): string[] {
  return problem === undefined
    ? []
    : wrapLine(`  its values cannot be read: ${toSingleLine(problem)}`, terminal);
}

/**
 * The failures, with the inputs of the first ones and where their tools threw:
 *
 * ```
 *   report/write[3] after 2 attempts: connection refused
 *     inputs: {"path": "report.md"}
 *     at write (/home/ada/tools.ts:12:11)
 * ```
 *
 * @param seeAll how to get the failures that a terminal does not show
 */
export function failureLines(
  failures: readonly TaskFailure[],
  terminal: Terminal,
  seeAll: string,
  details: FailureDetails = NO_DETAILS,
): string[] {
  const ordered = causesFirst(failures);
  const shown = terminal.interactive ? ordered.slice(0, MAX_FAILURES) : ordered;
  const hidden = failures.length - shown.length;
  const { calls, verbose } = details;
  return [
    ...shown.flatMap((failure, index) => [
      ...wrapLine(formatFailure(failure, terminal.style), terminal),
      ...callLines(failure, calls[index], verbose, terminal),
    ]),
    ...(hidden > 0 ? wrapLine(`  … ${formatNumber(hidden)} more; ${seeAll}`, terminal) : []),
    ...problemLines(details, terminal),
  ];
}

/** Puts the failures that failed the run before those that were collected (D67). */
export function causesFirst(failures: readonly TaskFailure[]): readonly TaskFailure[] {
  return failures.toSorted((a, b) => Number(a.collected === true) - Number(b.collected === true));
}

function formatFailure(failure: TaskFailure, style: Style): string {
  const { attempts, error, collected } = failure;
  const name = (collected ? style.yellow : style.red)(formatCall(failure));
  const tries = attempts === 0 ? 'before its first attempt' : `after ${formatCount(attempts, 'attempt')}`;
  return `  ${name}${collected ? ' (collected)' : ''} ${tries}: ${toSingleLine(error)}`;
}

/** Names the task or item that failed: `write`, `report/write[3]`. */
export function formatCall({
  sub_pipeline: subPipeline,
  task_id: taskId,
  item,
}: Pick<TaskFailure, 'sub_pipeline' | 'task_id' | 'item'>): string {
  const task = subPipeline === undefined ? taskId : `${subPipeline}/${taskId}`;
  return item === undefined ? task : `${task}[${item}]`;
}

const INDENT = '    ';

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
