import type { TaskFailure } from '../../errors.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { RunRecord } from '../../runs/record.js';
import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { wrap } from '../wrap.js';
import { grouped, plural } from '../words.js';

/** More failures than this tell people nothing new; a file or pipe gets them all. */
const MOST_SHOWN = 50;
const MOST_NAMES = 12;

/** What failed, with item, attempts and error, what succeeded before, what never started, and what to do. */
export function failureLines(
  { status, failures, progress }: RunRecord,
  pipeline: Pipeline,
  style: Style,
  terminal: Terminal,
): string[] {
  const shown = terminal.interactive ? failures.slice(0, MOST_SHOWN) : failures;
  const hidden = failures.length - shown.length;
  const hint = status === 'failed' ? hintFor(failures) : undefined;
  return [
    ...shown.map((failure) => failureLine(failure, style)),
    ...(hidden > 0 ? [`  … ${grouped(hidden)} more; --events FILE keeps them all`] : []),
    ...namesLine('succeeded before', succeeded(pipeline, progress.waves_executed, failures), terminal),
    ...namesLine('not started', pipeline.waves.slice(progress.waves_executed).flat(), terminal),
    ...(hint === undefined ? [] : [`  ${style.cyan('hint:')} ${hint}`]),
  ];
}

/** One failure, with what failed, how often it was tried, and why. */
export function failureLine({ task_id, item, attempts, error }: TaskFailure, style: Style): string {
  const name = item === undefined ? task_id : `${task_id}[${item}]`;
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

function namesLine(title: string, names: readonly string[], { columns }: Terminal): string[] {
  if (names.length === 0) return [];
  const more = names.length - MOST_NAMES;
  const listed = `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}`;
  const [first = '', ...others] = wrap(`${title}: ${listed}`, Math.max(40, columns - 6));
  return [`  ${first}`, ...others.map((line) => `    ${line}`)];
}

function hintFor(failures: readonly TaskFailure[]): string {
  if (failures.some(({ error }) => /timed out/i.test(error))) {
    return 'a larger --timeout, or timeout: SECONDS on the task, gives attempts more time';
  }
  return '--verbose tells every event as it happens, --events FILE keeps them';
}
