import type { RunRecord } from '../../runs/record.js';
import type { Style } from '../style.js';
import { duration, grouped, plural } from '../words.js';

/** How a run ended, in one line: `✓ succeeded in 4.2 s: 5 waves, 1,003 invocations`. */
export function summaryLine(record: RunRecord, style: Style): string {
  const { waves, waves_executed, invocations, sub_pipelines, sub_pipelines_settled = 0 } = record.progress;
  const parts =
    sub_pipelines === undefined
      ? ''
      : `${grouped(sub_pipelines_settled)} of ${plural(sub_pipelines, 'sub-pipeline')}, `;
  const work = `${parts}${grouped(waves_executed)} of ${plural(waves, 'wave')}, ${plural(invocations, 'invocation')}`;
  const time = timeOf(record);
  if (record.status === 'succeeded') {
    const all = sub_pipelines === undefined ? '' : `${plural(sub_pipelines, 'sub-pipeline')}, `;
    return `${style.green(`${style.marks.done} succeeded`)}${time}: ${all}${plural(waves, 'wave')}, ${plural(invocations, 'invocation')}`;
  }
  const how =
    record.status === 'cancelled'
      ? style.yellow(`${style.marks.warning} cancelled`)
      : style.red(`${style.marks.failed} ${record.status}`);
  return `${how}${time}: ${work}`;
}

/** A run that was stopped at once has no end yet. */
function timeOf({ started_at, finished_at }: RunRecord): string {
  if (started_at === null || finished_at === null) return '';
  return ` in ${duration(Date.parse(finished_at) - Date.parse(started_at))}`;
}
