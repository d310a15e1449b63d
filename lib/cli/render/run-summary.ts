import type { RunStatus, SubPipelineStatus } from '../../../machines/types.js';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatNumber,
  joinFirst,
  nameCall,
} from '../../common/text.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { RunRecord } from '../../runs/record.js';
import { PROGRAM } from '../package-info.js';
import { causesFirst, errorLines, type FailureDetails } from './failures.js';
import type { Formatter, Style, Terminal } from './terminal.js';
import { toSingleLine, wrapLine, wrapText } from './text.js';

const MAX_NAMES = 12;

/** How a settled run ended, on one line: `✓ succeeded in 4.2 s: 5 waves, 1,003 invocations`. */
export function summaryLine(record: RunRecord, style: Style): string {
  const { status } = record;
  const outcome = statusFormatter(status, style)(`${statusMark(status, style)} ${status}`);
  return `${outcome}${formatElapsed(record)}: ${describeWork(record)}`;
}

export const STATUS_STYLES = {
  queued: 'dim',
  running: 'cyan',
  succeeded: 'green',
  failed: 'red',
  cancelled: 'yellow',
  skipped: 'dim',
} as const satisfies Record<SubPipelineStatus, keyof Omit<Style, 'marks'>>;

export function statusFormatter(status: RunStatus, style: Style): Formatter {
  return style[STATUS_STYLES[status]];
}

/** The mark of a settled run or sub-pipeline. */
export function statusMark(status: SubPipelineStatus, { marks }: Style): string {
  switch (status) {
    case 'failed':
      return marks.failed;
    case 'cancelled':
      return marks.warning;
    default:
      return marks.done;
  }
}

/** ` in 4.2 s`; empty for a run that was cancelled before it started or that still drains. */
export function formatElapsed({ started_at, finished_at }: RunRecord): string {
  if (started_at === null || finished_at === null) return '';
  return ` in ${formatDuration(Date.parse(finished_at) - Date.parse(started_at))}`;
}

/** Describes the usage of language models: `mock/echo: 2 requests, 1,200 input tokens, 80 output tokens`. */
export function modelLines({ usage }: Pick<RunRecord, 'usage'>): string[] {
  return usage.map(({ model, requests, input_tokens: input, output_tokens: output, cost }) => {
    const tokens = `${formatCount(input, 'input token')}, ${formatCount(output, 'output token')}`;
    const paid = cost === undefined ? '' : `, ${formatCost(cost)}`;
    return `${toSingleLine(model)}: ${formatCount(requests, 'request')}, ${tokens}${paid}`;
  });
}

function describeWork(record: RunRecord): string {
  const { waves, waves_executed, invocations, sub_pipelines } = record.progress;
  const calls = formatCount(invocations, 'invocation');
  if (record.status === 'succeeded') {
    const parts = sub_pipelines === undefined ? '' : `${formatCount(sub_pipelines, 'sub-pipeline')}, `;
    return `${parts}${formatCount(waves, 'wave')}, ${calls}`;
  }
  const parts = sub_pipelines === undefined ? '' : `${subPipelineSummary(record)}; `;
  return `${parts}${formatNumber(waves_executed)} of ${formatCount(waves, 'wave')}, ${calls}`;
}

/** The statuses in the order of the summary; null is a sub-pipeline that has not started. */
const SUMMARY_ORDER: readonly (SubPipelineStatus | null)[] = [
  'succeeded',
  'skipped',
  'failed',
  'cancelled',
  'running',
  'queued',
  null,
];

/** Counts the sub-pipelines of a plan by status: `of 4 sub-pipelines 1 succeeded, 1 failed, 2 not started`. */
export function subPipelineSummary(record: RunRecord): string {
  const total = Object.keys(record.sub_pipelines ?? {}).length;
  const counts = SUMMARY_ORDER.flatMap((status) => {
    const count = subPipelinesWith(status, record).length;
    return count === 0 ? [] : [`${formatNumber(count)} ${status ?? 'not started'}`];
  });
  return `of ${formatCount(total, 'sub-pipeline')} ${counts.join(', ')}`;
}

function subPipelinesWith(
  wanted: SubPipelineStatus | null,
  { sub_pipelines: statuses }: RunRecord,
): string[] {
  return Object.entries(statuses ?? {}).flatMap(([id, status]) => (status === wanted ? [id] : []));
}

/** Describes why a run of this process did not succeed: its failures, its tasks or sub-pipelines, and hints. */
export function localFailureLines(
  record: RunRecord,
  terminal: Terminal,
  details: FailureDetails,
  isKept: boolean,
  waves: Pipeline['waves'],
): string[] {
  return [
    ...errorLines(record, terminal, '--events FILE writes all of them', details),
    ...taskLines(record, waves, terminal),
    ...subPipelineLines(record, terminal),
    ...hintLines(record, details, terminal, isKept),
  ];
}

/** The tasks of a pipeline run that succeeded, and those that were skipped, as records of tasks call it (D59). */
function taskLines(record: RunRecord, waves: Pipeline['waves'], terminal: Terminal): string[] {
  const withoutOutput = new Set((record.skipped ?? []).flatMap(({ task_id: taskId }) => taskId ?? []));
  const settled = countSettled(waves, record.progress.waves_executed, withoutOutput);
  for (const { task_id: taskId, collected } of record.failures) if (!collected) withoutOutput.add(taskId);
  // A run ends with the wave in which a task failed: all other tasks up to that wave succeeded (D16).
  const succeeded = waves.slice(0, settled).flatMap((wave) => wave.filter((id) => !withoutOutput.has(id)));
  const notRun = waves.slice(settled).flat();
  return [...nameLines('succeeded', succeeded, terminal), ...nameLines('skipped', notRun, terminal)];
}

/** Waves of which every task was skipped are not among those that were executed (D78). */
function countSettled(waves: Pipeline['waves'], executed: number, skipped: ReadonlySet<string>): number {
  let left = executed;
  const end = waves.findIndex((wave) => !wave.every((id) => skipped.has(id)) && left-- === 0);
  return end === -1 ? waves.length : end;
}

/** The most skipped tasks that a summary names. */
const MAX_SKIPS = 10;

/** The tasks that called nothing, each with its reason: `  skipped remind: {{params.send}} is false` (D78). */
export function skippedLines({ skipped = [] }: RunRecord, terminal: Terminal): string[] {
  const hidden = skipped.length - MAX_SKIPS;
  return [
    ...skipped.slice(0, MAX_SKIPS).flatMap(({ reason, sub_pipeline: part, task_id: taskId }) => {
      const path = taskId === undefined ? [part] : part === undefined ? [taskId] : [part, taskId];
      const name = terminal.style.dim(`skipped ${path.join('/')}:`);
      return wrapLine(`  ${name} ${toSingleLine(reason)}`, terminal);
    }),
    ...(hidden > 0 ? wrapLine(`  … ${formatNumber(hidden)} more`, terminal) : []),
  ];
}

/** The handlers that have failed, each with its error: `  handler clean failed: no space left` (D80). */
export function handlerLines({ handler_failures: failures = [] }: RunRecord, terminal: Terminal): string[] {
  const hidden = failures.length - MAX_HANDLER_FAILURES;
  return [
    ...failures.slice(0, MAX_HANDLER_FAILURES).flatMap((failure) => {
      const name = terminal.style.red(`handler ${nameCall(failure)} failed`);
      return wrapLine(`  ${name}: ${toSingleLine(failure.error)}`, terminal);
    }),
    ...(hidden > 0 ? wrapLine(`  … ${formatNumber(hidden)} more`, terminal) : []),
  ];
}

/** The most failures of handlers that a summary shows. */
const MAX_HANDLER_FAILURES = 10;

/** Describes why a run on a server did not succeed, and the commands that show more of it and that rerun it. */
export function serverFailureLines(
  record: RunRecord,
  terminal: Terminal,
  details: FailureDetails,
  server: string | undefined,
  waves: Pipeline['waves'] = [],
): string[] {
  const seeAll = `${PROGRAM} runs show ${record.run_id} --json${serverFlag(server)} prints all of them`;
  return [
    ...errorLines(record, terminal, seeAll, details),
    ...taskLines(record, waves, terminal),
    ...subPipelineLines(record, terminal),
    ...showTaskLines(record, serverFlag(server), terminal),
    ...rerunLines(record, server, terminal),
  ];
}

/** ` --server URL`, to append to a command; empty for the server that commands call without it. */
export function serverFlag(server: string | undefined): string {
  return server === undefined ? '' : ` --server ${server}`;
}

/** The sub-pipelines of a plan run by status, without those that failed; empty for a pipeline. */
export function subPipelineLines(record: RunRecord, terminal: Terminal): string[] {
  return (['succeeded', 'cancelled', null] as const).flatMap((status) =>
    nameLines(status ?? 'not started', subPipelinesWith(status, record), terminal),
  );
}

/** `  title: a, b, c and 7 more`, wrapped; empty without names. */
function nameLines(title: string, names: readonly string[], { columns }: Terminal): string[] {
  if (names.length === 0) return [];
  const text = `${title}: ${joinFirst(names, MAX_NAMES)}`;
  const [first = '', ...others] = wrapText(text, Math.max(20, columns - 6));
  return [`  ${first}`, ...others.map((line) => `    ${line}`)];
}

const TIMEOUT_HINT = 'a larger --timeout, or timeout: SECONDS on the task, gives attempts more time';
const VERBOSE_HINT = '--verbose prints every event, whole inputs and stacks';
const PARTIAL_HINT = '--partial prints the outputs of what succeeded';
/** Of a run that is not kept. */
const RERUN_HINT =
  'a run that is kept can be looked at, and rerun from where it failed: run without --no-store, in CI with --store FOLDER';

function hintLines(
  { status, failures }: RunRecord,
  { verbose }: FailureDetails,
  terminal: Terminal,
  isKept: boolean,
): string[] {
  if (status !== 'failed') return [];
  const timedOut = failures.some(({ error }) => /timed out/i.test(error));
  const showMore = verbose ? PARTIAL_HINT : `${VERBOSE_HINT}; ${PARTIAL_HINT}`;
  const hints = [timedOut ? TIMEOUT_HINT : showMore, ...(isKept ? [] : [RERUN_HINT])];
  return hints.flatMap((hint) => wrapLine(`  ${terminal.style.cyan('hint:')} ${hint}`, terminal));
}

/** The command that shows the inputs, attempts and stack of what failed first (D59). */
export function showTaskLines(record: RunRecord, placeFlag: string, terminal: Terminal): string[] {
  const { run_id, failures } = record;
  const [first] = causesFirst(failures);
  if (first === undefined) return [];
  const call = nameCall(first);
  // Never wrapped, so that it can be copied; shells read brackets as a pattern of file names.
  const quoted = first.item === undefined ? call : `'${call}'`;
  return [
    `  ${terminal.style.cyan('hint:')} ${PROGRAM} runs show ${run_id} --task ${quoted}${placeFlag}`,
    ...wrapLine('    shows its inputs, its attempts and where it failed', terminal),
  ];
}

/** The command that reruns a run which did not succeed (D35); empty until the run has settled. */
export function rerunLines(record: RunRecord, server: string | undefined, terminal: Terminal): string[] {
  const { run_id, status, settled } = record;
  if (!settled || status === 'succeeded') return [];
  return [
    // Never wrapped, so that it can be copied.
    `  ${terminal.style.cyan('hint:')} ${PROGRAM} runs rerun ${run_id} --from failed${serverFlag(server)}`,
    ...wrapLine(
      '    reruns everything that has not succeeded; with --file FILE, from the changed file',
      terminal,
    ),
  ];
}

/** The command that goes on from where a run of the history has ended. @param words of the command, after `rerun` */
export function keptRerunLines(words: readonly string[], isFailed: boolean, { style }: Terminal): string[] {
  return [
    // Never wrapped, so that it can be copied.
    `  ${style.cyan('hint:')} ${[PROGRAM, 'rerun', ...words].join(' ')}`,
    isFailed ? '    goes on from here, with the fixed file' : '    goes on from here',
  ];
}

/** Says what a cancelled run still waits for (rule 12): in a plan, the waves of all sub-pipelines that run. */
export function describeDraining(record: RunRecord): string {
  if (record.status !== 'cancelled') return 'its handlers run';
  return describeCurrentWaves(subPipelinesWith('cancelled', record).length > 1);
}

export function describeCurrentWaves(areSeveral: boolean): string {
  return areSeveral ? 'the current waves finish' : 'the current wave finishes';
}
