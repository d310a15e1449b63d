import { stripVTControlCharacters } from 'node:util';
import type { WavetrainClient } from '../../client/client.js';
import { describeFailedTask, errorMessage, findCause } from '../../common/errors.js';
import { formatCount, formatDuration, formatNumber, joinFirst, nameCall } from '../../common/text.js';
import { describeWait } from '../../common/wire/run-summary.js';
import type { RunRecord } from '../../runs/record.js';
import type { AttemptRecord, CallRecord, ItemCounts, TaskRecord } from '../../runs/tasks/task-record.js';
import { formatStartedBy } from '../../common/wire/started-by.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { type FailureDetails, failureLines } from '../render/failures.js';
import { printOutputs } from '../render/outputs.js';
import {
  describeDraining,
  formatElapsed,
  keptRerunLines,
  modelLines,
  rerunLines,
  showTaskLines,
  statusFormatter,
  subPipelineLines,
  subPipelineSummary,
} from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal, type Formatter, type Style, type Terminal } from '../render/terminal.js';
import {
  displayWidth,
  padToWidth,
  toSingleLine,
  truncateMiddle,
  wrapLine,
  wrapText,
} from '../render/text.js';
import { readRunEnd } from '../run/run-end.js';
import { describePause, readTasks } from '../run/task-reader.js';
import { artifactLine } from '../run/written-files.js';
import { type FoundRun, type KeptState, withRun, withState } from './kept-run.js';
import type { RunIdFlags } from './server-client.js';

export async function showRun(
  flags: RunIdFlags & { readonly json: boolean; readonly full: boolean },
  context: CliContext,
): Promise<ExitStatus> {
  const terminal = detectTerminal(context.stdout, context.env);
  return withRun(flags, context, async (found) => {
    const { client } = found;
    const record = await client.record(found.runId);
    if (flags.json) {
      printJson(withState(record, found), context);
      return EXIT.done;
    }
    const { details } = await readRunEnd(record, client, { outputs: false, json: false, verbose: false });
    const lines = [
      ...fieldLines(listFields(record, found, await describePlace(record, client), terminal.style), terminal),
      ...(record.status === 'succeeded' ? [] : await taskTable(record, client, terminal)),
      ...failureSection(record, details, { server: flags.server, ...found }, terminal),
      ...artifactSection(record, terminal),
      ...(record.result === null ? modelLines(record) : []),
    ];
    context.stdout.write(`${lines.join('\n')}\n`);
    if (record.result !== null) printOutputs(record.result, record.usage, flags.full, context);
    return EXIT.done;
  });
}

const MAX_ARTIFACTS = 20;

function artifactSection({ artifacts, artifact_count: count }: RunRecord, { style }: Terminal): string[] {
  if (count === 0) return [];
  const shown = artifacts.slice(0, MAX_ARTIFACTS);
  const hidden = count - shown.length;
  return [
    style.bold('Files:'),
    ...shown.map((artifact) => `  ${artifactLine(artifact)}`),
    ...(hidden > 0 ? [style.dim(`  … ${formatNumber(hidden)} more; runs artifacts lists all of them`)] : []),
  ];
}

function failureSection(
  record: RunRecord,
  details: FailureDetails,
  { server, runId, isKept, state, placeFlag }: FoundRun & Pick<RunIdFlags, 'server'>,
  terminal: Terminal,
): string[] {
  const { failures, status } = record;
  const { style } = terminal;
  const goesOn = isKept && status !== 'succeeded' && state !== 'running';
  return [
    ...(failures.length === 0 ? [] : [style.bold('Failures:')]),
    ...failureLines(failures, terminal, '--json prints all of them', details),
    ...(status === 'succeeded' ? [] : subPipelineLines(record, terminal)),
    ...showTaskLines(record, placeFlag, terminal),
    ...(isKept ? [] : rerunLines(record, server, terminal)),
    ...(goesOn ? keptRerunLines([runId + placeFlag], status === 'failed', terminal) : []),
  ];
}

/** A file or pipe gets more tasks than a terminal. */
const MAX_TASKS = 500;
const MAX_TASKS_ON_TERMINAL = 50;

/**
 * The tasks of a run in the order of their waves, a line for each: `  ✓ load  succeeded  0.2 s`. When they cannot be
 * read, such as by a server whose memory is full, a line says why, and the rest of the run is shown.
 */
async function taskTable(record: RunRecord, client: WavetrainClient, terminal: Terminal): Promise<string[]> {
  const { run_id, progress } = record;
  const { interactive, style, columns } = terminal;
  const most = interactive ? MAX_TASKS_ON_TERMINAL : MAX_TASKS;
  const tasks: TaskRecord[] = [];
  let problem: string | undefined;
  try {
    for await (const task of readTasks(run_id, client, {}, most)) tasks.push(task);
  } catch (error) {
    problem = errorMessage(error);
  }
  const names = tasks.map((task) => nameCall(task));
  const width = Math.min(
    Math.max(0, ...names.map(displayWidth)),
    interactive ? Math.floor(columns / 3) : MAX_NAME,
  );
  const hidden = progress.tasks - tasks.length;
  return [
    style.bold('Tasks:'),
    ...tasks.flatMap((task, index) => {
      const name = padToWidth(truncateMiddle(names[index] ?? '', width), width);
      return alignedLines(`  ${taskMark(task, style)} ${name}  `, describeCall(task), terminal);
    }),
    ...(hidden > 0 && problem === undefined ? [style.dim(`  … ${formatNumber(hidden)} more`)] : []),
    ...(problem === undefined
      ? []
      : wrapLine(`  ${formatCount(hidden, 'task')} cannot be read: ${toSingleLine(problem)}`, terminal)),
  ];
}

const MAX_NAME = 128;

function taskMark({ status }: TaskRecord, { marks }: Style): string {
  switch (status) {
    case 'succeeded':
      return marks.done;
    case 'failed':
      return marks.failed;
    default:
      return status === 'running' ? '>' : '-';
  }
}

/** `failed in 0.2 s, 4 items: 3 succeeded, 1 failed` */
export function describeCall(call: CallRecord & Partial<Pick<TaskRecord, 'items' | 'cached_items'>>): string {
  const {
    status,
    items,
    reused,
    cached,
    cached_items: fromCache,
    skip_reason: reason,
    waiting_for: wait,
  } = call;
  if (reason !== undefined) return `${status}: ${toSingleLine(reason)}`;
  const state = reused ? 'reused' : cached ? 'cached' : `${status}${describeTook(call)}`;
  const waits = wait === undefined ? '' : `, waits for ${toSingleLine(describeWait(wait))}`;
  if (items === undefined || items === null) return `${state}${waits}`;
  const cachedItems = fromCache ? `, ${formatNumber(fromCache)} of them from the cache` : '';
  return `${state}, ${describeItems(items)}${cachedItems}${waits}`;
}

/** ` in 0.2 s`; empty when the attempt has not ended, or nobody has observed its times. */
export function describeTook(attempt: Pick<AttemptRecord, 'started_at' | 'finished_at'>): string {
  const { started_at: start, finished_at: end } = attempt;
  return start === null || end === null ? '' : ` in ${formatDuration(Date.parse(end) - Date.parse(start))}`;
}

const ITEM_STATUSES = ['succeeded', 'failed', 'running', 'pending', 'skipped'] as const;

/** `4 items: 3 succeeded, 1 failed` */
function describeItems(items: ItemCounts): string {
  const counts = ITEM_STATUSES.filter((status) => items[status] > 0);
  const parts = counts.map((status) => `${formatNumber(items[status])} ${status}`).join(', ');
  return `${formatCount(items.total, 'item')}${parts === '' ? '' : `: ${parts}`}`;
}

export type Field = readonly [name: string, value: string | null];

/** One line per field that has a value; a terminal gets long ones wrapped. */
export function fieldLines(fields: readonly Field[], terminal: Terminal): string[] {
  const { style } = terminal;
  const indent = Math.max(...fields.map(([name]) => name.length)) + 2;
  return fields.flatMap(([name, value]) =>
    value === null ? [] : alignedLines(style.dim(padToWidth(name, indent)), value, terminal),
  );
}

/** A text after its name; a terminal gets it wrapped, aligned with its first line. */
function alignedLines(head: string, text: string, { interactive, columns }: Terminal): string[] {
  if (!interactive) return [head + text];
  const indent = displayWidth(stripVTControlCharacters(head));
  const lines = wrapText(text, Math.max(16, columns - 1 - indent));
  return lines.map((line, index) => (index === 0 ? head : ' '.repeat(indent)) + line);
}

async function describePlace(
  { run_id: runId, paused }: RunRecord,
  client: WavetrainClient,
): Promise<string | null> {
  if (!paused) return null;
  const command = `${PROGRAM} runs show ${runId} --task TASK`;
  return `${await describePause(client, runId)} (${command} shows its inputs)`;
}

function listFields(
  record: RunRecord,
  { state }: Pick<FoundRun, 'state'>,
  pause: string | null,
  style: Style,
): Field[] {
  return [
    ['run', record.run_id],
    [
      'status',
      state === undefined
        ? describeStatus(record, style)
        : describeState(state, state === 'running' ? style.cyan : style.yellow),
    ],
    ['paused', pause],
    // An older server sends none.
    ['waits for', record.waiting_for ? toSingleLine(describeWait(record.waiting_for)) : null],
    [record.kind, toSingleLine(record.pipeline_id)],
    ['goal', record.goal === '' ? null : toSingleLine(record.goal)],
    ['tenant', toSingleLine(record.tenant_id)],
    ['created', record.created_at],
    ['started', record.started_at],
    ['finished', state === undefined ? record.finished_at : null],
    ['progress', describeProgress(record)],
    ['rerun of', record.rerun_of],
    // An older server sends none.
    ['started by', record.started_by ? toSingleLine(formatStartedBy(record.started_by)) : record.trigger],
    ['labels', describeLabels(record)],
    ['priority', record.priority ? String(record.priority) : null],
    ['error', describeError(record)],
    ['error code', record.error_code ?? null],
    ['handlers', describeHandlers(record)],
  ];
}

/** `team=billing, stage=test`, as flags have them; null without labels, and of an older server, which sends none. */
function describeLabels({ labels }: Partial<RunRecord>): string | null {
  const shown = Object.entries(labels ?? {}).map(([name, value]) => toSingleLine(`${name}=${value}`));
  return shown.length === 0 ? null : shown.join(', ');
}

/** How many handlers have outputs, and the failures of others; null without handlers. */
function describeHandlers({ handlers, handler_failures: failures = [] }: RunRecord): string | null {
  if (handlers === undefined) return null;
  const succeeded = `${formatNumber(Object.keys(handlers).length)} succeeded`;
  const failed = failures.map((failure) => `${nameCall(failure)} failed: ${toSingleLine(failure.error)}`);
  return joinFirst([succeeded, ...failed], MAX_HANDLER_FAILURES);
}

const MAX_HANDLER_FAILURES = 5;

/** The error, with the task that failed. The error of a plan names the task already. */
function describeError({ error, failures, failed_task, kind }: RunRecord): string | null {
  if (error === null) return null;
  const cause = kind === 'plan' || failed_task === null ? undefined : findCause(failures);
  if (cause === undefined) return toSingleLine(error);
  const item = cause.item === undefined ? '' : `, item ${cause.item}`;
  return `${describeFailedTask(cause)}${item}: ${toSingleLine(error)}`;
}

/** Names the state, and says that work is stopped only in what is shown. */
export function describeState(state: KeptState, format: Formatter = String): string {
  return state === 'running'
    ? `${format(state)} in another shell; what is at work is shown as stopped`
    : `${format(state)}: its process has ended; what was at work is shown as stopped`;
}

function describeStatus(record: RunRecord, style: Style): string {
  const { status, paused, settled, started_at, finished_at } = record;
  const isEnding = status !== 'queued' && status !== 'running';
  const isDraining = isEnding && !settled && started_at !== null && finished_at === null;
  const draining = isDraining ? `, ${describeDraining(record)}` : '';
  const pause = paused ? `, paused at a breakpoint (${PROGRAM} runs continue ${record.run_id})` : '';
  return `${statusFormatter(status, style)(status)}${formatElapsed(record)}${draining}${pause}`;
}

function describeProgress(record: RunRecord): string {
  const { waves, waves_executed, tasks, tasks_settled, invocations } = record.progress;
  const parts = [
    `${formatNumber(waves_executed)} of ${formatCount(waves, 'wave')}`,
    `${formatNumber(tasks_settled)} of ${formatCount(tasks, 'task')}`,
    formatCount(invocations, 'invocation'),
  ];
  return `${describeSubPipelines(record)}${parts.join(', ')}`;
}

function describeSubPipelines(record: RunRecord): string {
  const { sub_pipelines, sub_pipelines_settled = 0 } = record.progress;
  if (sub_pipelines === undefined) return '';
  if (record.status !== 'succeeded') return `${subPipelineSummary(record)}; `;
  return `${formatNumber(sub_pipelines_settled)} of ${formatCount(sub_pipelines, 'sub-pipeline')}, `;
}
