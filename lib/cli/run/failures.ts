import type { TaskFailure } from '../../common/errors.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { RunRecord } from '../../runs/record.js';
import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { screenLines, wrap } from '../wrap.js';
import { grouped, plural } from '../words.js';

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
export function shownFailures(
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
export function namesLine(title: string, names: readonly string[], { columns }: Terminal): string[] {
  if (names.length === 0) return [];
  const more = names.length - MOST_NAMES;
  const listed = `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}`;
  const [first = '', ...others] = wrap(`${title}: ${listed}`, Math.max(20, columns - 6));
  return [`  ${first}`, ...others.map((line) => `    ${line}`)];
}

/** What to do about a run that failed. */
export function hintLines({ status, failures }: RunRecord, style: Style, terminal: Terminal): string[] {
  if (status !== 'failed') return [];
  return screenLines(`  ${style.cyan('hint:')} ${hintFor(failures)}`, terminal);
}

function hintFor(failures: readonly TaskFailure[]): string {
  if (failures.some(({ error }) => /timed out/i.test(error))) {
    return 'a larger --timeout, or timeout: SECONDS on the task, gives attempts more time';
  }
  return '--verbose tells every event as it happens, --events FILE keeps them';
}
