import type { RunStatus } from '../../../machines/types.js';
import type { TaskFailure } from '../../common/errors.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { RunRecord } from '../../runs/record.js';
import { PROGRAM } from '../package-info.js';
import type { Paint, Style, Terminal } from './terminal.js';
import { duration, grouped, oneLine, plural, screenLines, wrap } from './text.js';

/** More failures than this tell people nothing new; a file or pipe gets them all. */
const MOST_SHOWN = 50;
const MOST_NAMES = 12;

/** What failed, with item, attempts and error, what succeeded before, what never started, and what to do. */
export function failureLines(
  record: RunRecord,
  pipeline: Pipeline,
  style: Style,
  terminal: Terminal,
): string[] {
  const { failures, progress } = record;
  return [
    ...shownFailures(failures, style, terminal),
    ...namesLine('succeeded before', succeeded(pipeline, progress.waves_executed, failures), terminal),
    ...namesLine('not started', pipeline.waves.slice(progress.waves_executed).flat(), terminal),
    ...hintLines(record, style, terminal),
  ];
}

/**
 * The failures, on a terminal the first ones.
 *
 * @param whole where the others are to be had
 */
function shownFailures(
  failures: readonly TaskFailure[],
  style: Style,
  { interactive }: Terminal,
  whole = '--events FILE keeps them all',
): string[] {
  const shown = interactive ? failures.slice(0, MOST_SHOWN) : failures;
  const hidden = failures.length - shown.length;
  return [
    ...shown.map((failure) => failureLine(failure, style)),
    ...(hidden > 0 ? [`  … ${grouped(hidden)} more; ${whole}`] : []),
  ];
}

/** One failure, with what failed, how often it was tried, and why. Of a plan: `sub-pipeline/task`. */
export function failureLine(failure: TaskFailure, style: Style): string {
  const { sub_pipeline, task_id, item, attempts, error } = failure;
  const task = sub_pipeline === undefined ? task_id : `${sub_pipeline}/${task_id}`;
  const name = item === undefined ? task : `${task}[${item}]`;
  const tries = attempts === 0 ? 'before its first attempt' : `after ${plural(attempts, 'attempt')}`;
  return `  ${style.red(name)} ${tries}: ${oneLine(error)}`;
}

/** A run ends with the wave in which something failed: the rest of the waves up to it succeeded (D16). */
function succeeded(pipeline: Pipeline, waves: number, failures: readonly TaskFailure[]): string[] {
  const failed = new Set(failures.map(({ task_id }) => task_id));
  return pipeline.waves
    .slice(0, waves)
    .flat()
    .filter((taskId) => !failed.has(taskId));
}

/** `title: a, b, c and 7 more`, in as many lines as it takes; nothing without names. */
function namesLine(title: string, names: readonly string[], { columns }: Terminal): string[] {
  if (names.length === 0) return [];
  const more = names.length - MOST_NAMES;
  const listed = `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}`;
  const [first = '', ...others] = wrap(`${title}: ${listed}`, Math.max(20, columns - 6));
  return [`  ${first}`, ...others.map((line) => `    ${line}`)];
}

/** What to do about a run that failed. */
function hintLines({ status, failures }: RunRecord, style: Style, terminal: Terminal): string[] {
  if (status !== 'failed') return [];
  return screenLines(`  ${style.cyan('hint:')} ${hintFor(failures)}`, terminal);
}

function hintFor(failures: readonly TaskFailure[]): string {
  if (failures.some(({ error }) => /timed out/i.test(error))) {
    return 'a larger --timeout, or timeout: SECONDS on the task, gives attempts more time';
  }
  return '--verbose tells every event as it happens, --events FILE keeps them';
}

/** How a run ended, in one line: `✓ succeeded in 4.2 s: 5 waves, 1,003 invocations`. */
export function summaryLine(record: RunRecord, style: Style): string {
  return `${howItEnded(record, style)}${timeOf(record)}: ${workOf(record)}`;
}

function howItEnded({ status }: RunRecord, style: Style): string {
  switch (status) {
    case 'succeeded':
      return style.green(`${style.marks.done} succeeded`);
    case 'cancelled':
      return style.yellow(`${style.marks.warning} cancelled`);
    default:
      return style.red(`${style.marks.failed} ${status}`);
  }
}

function workOf(record: RunRecord): string {
  const { waves, waves_executed, invocations, sub_pipelines } = record.progress;
  const calls = plural(invocations, 'invocation');
  if (record.status === 'succeeded') {
    const parts = sub_pipelines === undefined ? '' : `${plural(sub_pipelines, 'sub-pipeline')}, `;
    return `${parts}${plural(waves, 'wave')}, ${calls}`;
  }
  const course = sub_pipelines === undefined ? '' : `${courseInNumbers(record)}; `;
  return `${course}${grouped(waves_executed)} of ${plural(waves, 'wave')}, ${calls}`;
}

/** A run that was stopped at once has no end yet. */
function timeOf({ started_at, finished_at }: RunRecord): string {
  if (started_at === null || finished_at === null) return '';
  return ` in ${duration(Date.parse(finished_at) - Date.parse(started_at))}`;
}

type Course = Pick<RunRecord, 'sub_pipelines'>;

/** In the order in which they are told; null: it has not begun. */
const TOLD: readonly (readonly [status: RunStatus | null, words: string])[] = [
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['running', 'running'],
  ['queued', 'queued'],
  [null, 'not started'],
];

/** What became of the sub-pipelines of a plan that did not succeed; nothing for a pipeline. */
export function courseLines(record: Course, terminal: Terminal): string[] {
  return [
    ...namesLine('succeeded before', thoseThat(record, 'succeeded'), terminal),
    ...namesLine('cancelled', thoseThat(record, 'cancelled'), terminal),
    ...namesLine('not started', thoseThat(record, null), terminal),
  ];
}

/** `of 4 sub-pipelines 1 succeeded, 1 failed, 2 not started`: settled is not succeeded. */
export function courseInNumbers(record: Course): string {
  const all = Object.keys(record.sub_pipelines ?? {}).length;
  const counts = TOLD.flatMap(([status, words]) => {
    const count = thoseThat(record, status).length;
    return count === 0 ? [] : [`${grouped(count)} ${words}`];
  });
  return `of ${plural(all, 'sub-pipeline')} ${counts.join(', ')}`;
}

/** Whose wave finishes first when a run is cancelled: of a plan those of all sub-pipelines at work. */
export function wavesAtWork(record: Course): string {
  return wavesThatFinish(thoseThat(record, 'cancelled').length > 1);
}

export function wavesThatFinish(several: boolean): string {
  return several ? 'the waves at work finish' : 'the wave at work finishes';
}

function thoseThat({ sub_pipelines: statuses }: Course, wanted: RunStatus | null): string[] {
  return Object.entries(statuses ?? {}).flatMap(([id, status]) => (status === wanted ? [id] : []));
}

/** What failed, by sub-pipeline and task, which sub-pipelines succeeded before, which never started, and what to do. */
export function planFailureLines(record: RunRecord, style: Style, terminal: Terminal): string[] {
  const { failures, error } = record;
  return [
    ...(failures.length === 0 && error !== null ? [`  ${style.red(oneLine(error))}`] : []),
    ...shownFailures(failures, style, terminal),
    ...courseLines(record, terminal),
    ...hintLines(record, style, terminal),
  ];
}

const PAINTS: Readonly<Record<RunStatus, (style: Style) => Paint>> = {
  queued: ({ dim }) => dim,
  running: ({ cyan }) => cyan,
  succeeded: ({ green }) => green,
  failed: ({ red }) => red,
  cancelled: ({ yellow }) => yellow,
};

/** How a status is painted wherever it stands. */
export function paintOf(status: RunStatus, style: Style): Paint {
  return PAINTS[status](style);
}

/** What to do next about a run that has not succeeded (D35); nothing while anything of it is at work. */
export function nextLines({ run_id, status, settled }: RunRecord, style: Style): string[] {
  if (!settled || status === 'succeeded') return [];
  return [
    // Whole, however narrow the terminal: it is there to be copied.
    `  ${style.cyan('hint:')} ${PROGRAM} runs rerun ${run_id} --from failed`,
    '    runs again what has not succeeded',
  ];
}

/** How a run ended that has not succeeded: what failed, of a plan what became of its sub-pipelines, and what to do. */
export function unsuccessfulLines(record: RunRecord, style: Style, terminal: Terminal): string[] {
  const { run_id, failures, error } = record;
  return [
    ...screenLines(summaryLine(record, style), terminal),
    ...(failures.length === 0 && error !== null ? [`  ${style.red(oneLine(error))}`] : []),
    ...shownFailures(failures, style, terminal, `${PROGRAM} runs show ${run_id} --json has them all`),
    ...courseLines(record, terminal),
    ...nextLines(record, style),
  ];
}
