import type { RunRecord } from '../../runs/record.js';
import { oneLine } from '../printable.js';
import { failureLine } from '../run/failures.js';
import { courseInNumbers, courseLines, wavesAtWork } from '../run/course.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { padTo } from '../width.js';
import { duration, grouped, plural } from '../words.js';
import { wrap } from '../wrap.js';
import { nextLines } from './next.js';
import { paintOf } from './status-word.js';

/** More than that is left to --json. */
const MOST_FAILURES = 50;

/** A record as people read it, but for its outputs. */
export function recordLines(record: RunRecord, style: Style, terminal: Terminal): string[] {
  const facts = factsOf(record, style);
  const columns = Math.max(...facts.map(([name]) => name.length)) + 2;
  return [
    ...facts.flatMap(([name, value]) => factLines(style.dim(padTo(name, columns)), value, columns, terminal)),
    ...failureLinesOf(record, style, terminal),
    ...(record.status === 'succeeded' ? [] : courseLines(record, terminal)),
    ...nextLines(record, style),
  ];
}

/** On a terminal a long value goes on below itself. */
function factLines(
  name: string,
  value: string,
  indent: number,
  { interactive, columns }: Terminal,
): string[] {
  if (!interactive) return [name + value];
  const lines = wrap(value, Math.max(20, columns - 1 - indent));
  return lines.map((line, index) => (index === 0 ? name : ' '.repeat(indent)) + line);
}

function factsOf(record: RunRecord, style: Style): (readonly [string, string])[] {
  const { error } = record;
  const facts: (readonly [string, string | null])[] = [
    ['run', record.run_id],
    ['status', statusOf(record, style)],
    [record.kind, oneLine(record.pipeline_id)],
    ['goal', record.goal === '' ? null : oneLine(record.goal)],
    ['tenant', oneLine(record.tenant_id)],
    ['created', record.created_at],
    ['started', record.started_at],
    ['finished', record.finished_at],
    ['progress', progressOf(record)],
    ['rerun of', record.rerun_of],
    ['error', error === null ? null : oneLine(error)],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

function progressOf(record: RunRecord): string {
  const { waves, waves_executed, tasks, tasks_settled, invocations } = record.progress;
  const work = [
    `${grouped(waves_executed)} of ${plural(waves, 'wave')}`,
    `${grouped(tasks_settled)} of ${plural(tasks, 'task')}`,
    plural(invocations, 'invocation'),
  ].join(', ');
  return `${subPipelinesOf(record)}${work}`;
}

function subPipelinesOf(record: RunRecord): string {
  const { sub_pipelines, sub_pipelines_settled = 0 } = record.progress;
  if (sub_pipelines === undefined) return '';
  if (record.status !== 'succeeded') return `${courseInNumbers(record)}; `;
  return `${grouped(sub_pipelines_settled)} of ${plural(sub_pipelines, 'sub-pipeline')}, `;
}

function statusOf(record: RunRecord, style: Style): string {
  const { status, settled, started_at, finished_at } = record;
  const time =
    started_at === null || finished_at === null
      ? ''
      : ` in ${duration(Date.parse(finished_at) - Date.parse(started_at))}`;
  const isEnding = finished_at === null && started_at !== null && !settled && status === 'cancelled';
  return `${paintOf(status, style)(status)}${time}${isEnding ? `, ${wavesAtWork(record)}` : ''}`;
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
