import type { RunRecord } from '../../client.js';
import { oneLine } from '../printable.js';
import { failureLine } from '../run/failures.js';
import { courseLines } from '../run/course.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { padTo } from '../width.js';
import { duration, grouped, plural } from '../words.js';
import { paintOf } from './status-word.js';

/** More than that is left to --json. */
const MOST_FAILURES = 50;

/** A record as people read it, but for its outputs. */
export function recordLines(record: RunRecord, style: Style, terminal: Terminal): string[] {
  const facts = factsOf(record, style);
  const columns = Math.max(...facts.map(([name]) => name.length)) + 2;
  return [
    ...facts.map(([name, value]) => `${style.dim(padTo(name, columns))}${value}`),
    ...failureLinesOf(record, style, terminal),
    ...(record.status === 'succeeded' ? [] : courseLines(record, terminal)),
  ];
}

function factsOf(record: RunRecord, style: Style): (readonly [string, string])[] {
  const { progress, error } = record;
  const facts: (readonly [string, string | null])[] = [
    ['run', record.run_id],
    ['status', statusOf(record, style)],
    [record.kind, oneLine(record.pipeline_id)],
    ['goal', record.goal === '' ? null : oneLine(record.goal)],
    ['tenant', oneLine(record.tenant_id)],
    ['created', record.created_at],
    ['started', record.started_at],
    ['finished', record.finished_at],
    [
      'progress',
      [
        ...(progress.sub_pipelines === undefined
          ? []
          : [
              `${grouped(progress.sub_pipelines_settled ?? 0)} of ${plural(progress.sub_pipelines, 'sub-pipeline')}`,
            ]),
        `${grouped(progress.waves_executed)} of ${plural(progress.waves, 'wave')}`,
        `${grouped(progress.tasks_settled)} of ${plural(progress.tasks, 'task')}`,
        plural(progress.invocations, 'invocation'),
      ].join(', '),
    ],
    ['rerun of', record.rerun_of],
    ['error', error === null ? null : oneLine(error)],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

function statusOf({ status, settled, started_at, finished_at }: RunRecord, style: Style): string {
  const time =
    started_at === null || finished_at === null
      ? ''
      : ` in ${duration(Date.parse(finished_at) - Date.parse(started_at))}`;
  const isEnding = finished_at === null && started_at !== null && !settled && status === 'cancelled';
  return `${paintOf(status, style)(status)}${time}${isEnding ? ', the wave at work finishes' : ''}`;
}

function failureLinesOf({ failures }: RunRecord, style: Style, { interactive }: Terminal): string[] {
  if (failures.length === 0) return [];
  const shown = interactive ? failures.slice(0, MOST_FAILURES) : failures;
  const hidden = failures.length - shown.length;
  return [
    style.bold('Failures:'),
    ...shown.map((failure) => failureLine(failure, style)),
    ...(hidden > 0 ? [`  … ${grouped(hidden)} more; --json has them all`] : []),
  ];
}
