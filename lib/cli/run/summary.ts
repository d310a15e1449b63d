import type { RunRecord } from '../../runs/record.js';
import type { Style } from '../style.js';
import { duration, grouped, plural } from '../words.js';
import { courseInNumbers } from './course.js';

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
