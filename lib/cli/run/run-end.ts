import type { TaskStatus } from '../../../machines/types.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import { type Json, type JsonObject, setOwn } from '../../common/json/json.js';
import { joinFirst, nameCall } from '../../common/text.js';
import { nearest } from '../../definition/did-you-mean.js';
import type { RunRecord } from '../../runs/record.js';
import type { CallRecord, TaskRecord } from '../../runs/tasks/task-record.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../input/usage-errors.js';
import { PROGRAM } from '../package-info.js';
import type { DisplayFlags } from '../progress/display.js';
import {
  causesFirst,
  type FailureDetails,
  failureLines,
  groupFailures,
  NO_DETAILS,
} from '../render/failures.js';
import { printOutput, printOutputs, printPartialOutputs } from '../render/outputs.js';
import { modelLines, handlerLines, skippedLines, summaryLine } from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal, type Terminal } from '../render/terminal.js';
import { toSingleLine, wrapLine } from '../render/text.js';
import { readCall, readTasks, type TaskReader } from './task-reader.js';

export interface InspectedRun extends RunRemains {
  /** The calls that needed another attempt, in words; undefined without any, and when nobody asked for them. */
  readonly retried: string | undefined;
}

interface RunRemains {
  readonly record: RunRecord;
  readonly details: FailureDetails;
  /** The outputs by task; of a plan, those of each sub-pipeline. Undefined when nobody asked for them. */
  readonly outputs: JsonObject | undefined;
  /** The status of each task of a run that did not succeed, by its name; undefined when nobody asked for the outputs. */
  readonly statuses: ReadonlyMap<string, TaskStatus> | undefined;
}

interface Wanted {
  readonly outputs: boolean;
  /** Shows the inputs and stacks of what failed whole. */
  readonly verbose: boolean;
  /** Reads those inputs whole, for a program. */
  readonly json: boolean;
}

/** Failures whose inputs are shown: those of further items are mostly alike. */
const MAX_DETAILED = 10;

/**
 * Reads what a run leaves: the inputs of what failed, and the outputs that there are (D59). Call before the run is
 * forgotten. An unreadable part does not hide the failure: the details say why it is missing.
 */
export async function readRunEnd(record: RunRecord, reader: TaskReader, wanted: Wanted): Promise<RunRemains> {
  const unread = { outputs: undefined, statuses: undefined };
  if (record.result !== null) {
    return { record, details: NO_DETAILS, ...unread, outputs: outputsOf(record.result) };
  }
  const details = await readDetails(record, reader, wanted);
  if (!wanted.outputs) return { record, details, ...unread };
  try {
    return { record, details, ...(await readOutputs(record, reader)) };
  } catch (error) {
    return { record, details: { ...details, problem: errorMessage(error) }, ...unread };
  }
}

function outputsOf(result: NonNullable<RunRecord['result']>): JsonObject {
  if (result.plan_id === undefined) return result.outputs;
  const outputs: JsonObject = {};
  for (const [id, part] of Object.entries(result.sub_results)) setOwn(outputs, id, part.outputs);
  return outputs;
}

async function readDetails(
  { run_id, failures }: RunRecord,
  reader: TaskReader,
  { verbose, json }: Wanted,
): Promise<FailureDetails> {
  const calls = new Map<string, CallRecord>();
  // JSON lists each failure by itself.
  const shown = json ? causesFirst(failures) : groupFailures(failures, verbose).map(({ first }) => first);
  try {
    for (const failure of shown.slice(0, MAX_DETAILED)) {
      calls.set(nameCall(failure), await readCall(run_id, reader, failure, { whole: verbose || json }));
    }
    return { calls, verbose, problem: undefined };
  } catch (error) {
    return { calls, verbose, problem: errorMessage(error) };
  }
}

async function readOutputs(
  { run_id }: RunRecord,
  reader: TaskReader,
): Promise<Pick<RunRemains, 'outputs' | 'statuses'>> {
  const outputs: JsonObject = {};
  const statuses = new Map<string, TaskStatus>();
  for await (const task of readTasks(run_id, reader, { whole: true })) {
    // The outputs of a run are those of its tasks.
    if (task.handler !== undefined) continue;
    addOutput(outputs, task);
    statuses.set(nameCall(task), task.status);
  }
  return { outputs, statuses };
}

/** Of a fan-out that failed, the outputs of its items that succeeded, and null in place of the others. */
function addOutput(outputs: JsonObject, { sub_pipeline, task_id, status, items, output }: TaskRecord): void {
  if (status !== 'succeeded' && (items === null || items.succeeded === 0)) return;
  if (sub_pipeline === undefined) {
    setOwn(outputs, task_id, output);
    return;
  }
  const known = Object.hasOwn(outputs, sub_pipeline) ? outputs[sub_pipeline] : undefined;
  const part = (known ?? {}) as JsonObject;
  setOwn(part, task_id, output);
  setOwn(outputs, sub_pipeline, part);
}

export type FormatFailures = (record: RunRecord, terminal: Terminal, details: FailureDetails) => string[];

/** The flags that say what is printed of a settled run. */
export interface RunEndFlags extends DisplayFlags {
  /** The one task whose output is printed: `write`; in a plan `report/write`. */
  readonly output?: string | undefined;
  /** Print the outputs of a run that did not succeed. */
  readonly partial?: boolean;
  /** Print long outputs whole. */
  readonly full: boolean;
}

/** True when inputs and stacks are shown whole (D59). */
export function wantsDetails({ verbose }: DisplayFlags, { env }: CliContext): boolean {
  return verbose || Boolean(env['WAVETRAIN_DEBUG']);
}

/**
 * Prints a settled run: its outputs on standard output, its summary and failures on standard error. With `--json` a run
 * that did not succeed prints what it has as well (D59).
 */
export function printRunEnd(
  run: InspectedRun,
  flags: RunEndFlags,
  formatFailures: FormatFailures,
  context: CliContext,
): void {
  const { record, details, outputs, statuses } = run;
  const { result, status, error, failures } = record;
  printSummary(run, flags, formatFailures, context);
  const isPlan = record.kind === 'plan';
  const output = flags.output === undefined ? undefined : findOutput(outputs ?? {}, flags.output, isPlan);
  if (flags.output !== undefined && output === undefined && statuses !== undefined) {
    printWhyMissing(flags.output, statuses.get(flags.output), context);
  }
  if (result === null && flags.json) {
    const described = describeFailures(failures, details);
    printJson(
      { status, error, failures: described, outputs: outputs ?? {}, ...handlerFieldsOf(record) },
      context,
    );
  } else if (flags.output !== undefined) {
    // Where it is not known before the run which tasks there are.
    if (result !== null) assertOutputName(flags.output, listNames(outputs ?? {}, isPlan));
    if (output !== undefined) printOutput(output, flags.json, context);
  } else if (result !== null) {
    if (flags.json) printJson(toJsonResult(result, record), context);
    else printOutputs(result, record.usage, flags.full, context);
  } else if (flags.partial) {
    printPartialOutputs(outputs ?? {}, isPlan, flags.full, context);
  }
}

function printSummary(
  { record, details, retried }: InspectedRun,
  flags: RunEndFlags,
  formatFailures: FormatFailures,
  context: CliContext,
): void {
  const isSuccess = record.result !== null;
  const hasHandlerFailures = (record.handler_failures ?? []).length > 0;
  const hasFailures = record.failures.length > 0 || hasHandlerFailures;
  const isShort = isSuccess && !wantsSummary(flags, context) && (flags.quiet || !hasFailures);
  if (isShort && !hasHandlerFailures && retried === undefined) return;
  const terminal = detectTerminal(context.stderr, context.env);
  const retriedLines = retried === undefined ? [] : wrapLine(`  ${toSingleLine(retried)}`, terminal);
  // Nothing else says that a handler has failed: the status of the run does not.
  const lines = isShort
    ? [...handlerLines(record, terminal), ...retriedLines]
    : [
        ...wrapLine(summaryLine(record, terminal.style), terminal),
        ...retriedLines,
        ...skippedLines(record, terminal),
        ...handlerLines(record, terminal),
        // The statistics of a run that succeeded name its models already.
        ...(isSuccess ? [] : modelLines(record)),
        ...(isSuccess
          ? failureLines(record.failures, terminal, '--events FILE writes all of them')
          : formatFailures(record, terminal, details)),
      ];
  context.stderr.write(`${lines.join('\n')}\n`);
}

/** A succeeded run has a summary where its progress is shown, and with `--verbose`. */
function wantsSummary({ json, quiet, verbose }: DisplayFlags, { stderr, env }: CliContext): boolean {
  return verbose || (detectTerminal(stderr, env).canRedraw && !json && !quiet);
}

type Result = NonNullable<RunRecord['result']>;

/** `--json` prints the outputs of a pipeline (D41) and the whole result of a plan (D47). */
function toJsonResult(result: Result, record: RunRecord): unknown {
  if (result.plan_id === undefined) return result.outputs;
  return { ...result, ...handlerFieldsOf(record), events: record.events };
}

/** The fields of the record that say what handlers did; none without handlers (D80). */
function handlerFieldsOf({
  handlers,
  handler_failures = [],
}: RunRecord): Pick<RunRecord, 'handlers' | 'handler_failures'> {
  return handlers === undefined ? {} : { handlers, handler_failures };
}

/** The failures for a program: the first ones with the inputs of their calls and, with `--verbose`, their stacks. */
function describeFailures(
  failures: readonly TaskFailure[],
  { calls, verbose }: FailureDetails,
): (TaskFailure & { readonly inputs?: JsonObject; readonly stack?: string })[] {
  return failures.map((failure) => {
    const { inputs = null, error } = calls.get(nameCall(failure)) ?? {};
    const stack = verbose ? error?.stack : undefined;
    return { ...failure, ...(inputs !== null && { inputs }), ...(stack !== undefined && { stack }) };
  });
}

/** Says on standard error why there is no output of the task that `--output` names. */
function printWhyMissing(
  name: string,
  status: TaskStatus | undefined,
  { stderr, env }: Pick<CliContext, 'stderr' | 'env'>,
): void {
  const terminal = detectTerminal(stderr, env);
  const why = `${describeMissing(toSingleLine(name), status)}, so there is no output of it`;
  stderr.write(`${wrapLine(`${terminal.style.red(`${PROGRAM}:`)} ${why}`, terminal).join('\n')}\n`);
}

function describeMissing(name: string, status: TaskStatus | undefined): string {
  switch (status) {
    case undefined:
      return `there is no task "${name}"`;
    case 'failed':
      return `${name} failed`;
    case 'running':
      return `${name} has not finished`;
    default:
      return `${name} has not run`;
  }
}

function findOutput(outputs: JsonObject, name: string, isPlan: boolean): Json | undefined {
  if (!isPlan) return ownValue(outputs, name);
  const slash = name.indexOf('/');
  const part = ownValue(outputs, name.slice(0, Math.max(0, slash)));
  return part === undefined ? undefined : ownValue(part as JsonObject, name.slice(slash + 1));
}

function ownValue(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function listNames(outputs: JsonObject, isPlan: boolean): string[] {
  if (!isPlan) return Object.keys(outputs);
  return Object.entries(outputs).flatMap(([id, part]) =>
    Object.keys(part as JsonObject).map((taskId) => `${id}/${taskId}`),
  );
}

const MAX_NAMES = 12;

/** @throws UsageError when there is no task of that name */
export function assertOutputName(name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  const suggestion = nearest(name, names);
  throw new UsageError(
    `--output names "${name}", but there is no such task`,
    suggestion === undefined ? `the tasks are ${joinFirst(names, MAX_NAMES)}` : `did you mean ${suggestion}?`,
  );
}
