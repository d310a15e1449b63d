import type { RunStatus } from '../../../machines/vocabulary.js';
import type { RunRecord } from '../../runs/record.js';
import type { Terminal } from '../terminal.js';
import { grouped, plural } from '../words.js';
import { namesLine } from './failures.js';

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
