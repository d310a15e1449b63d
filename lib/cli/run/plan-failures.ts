import type { RunRecord } from '../../runs/record.js';
import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { hintLine, namesLine, shownFailures } from './failures.js';

/** What failed, by sub-pipeline and task, which sub-pipelines succeeded before, which never started, and what to do. */
export function planFailureLines(record: RunRecord, style: Style, terminal: Terminal): string[] {
  const { failures, error } = record;
  return [
    ...(failures.length === 0 && error !== null ? [`  ${style.red(oneLine(error))}`] : []),
    ...shownFailures(failures, style, terminal),
    ...courseLines(record, terminal),
    ...hintLine(record, style),
  ];
}

/** What became of the sub-pipelines of a plan that did not succeed; nothing for a pipeline. */
export function courseLines({ sub_pipelines: statuses }: RunRecord, terminal: Terminal): string[] {
  const those = (wanted: string | null): string[] =>
    Object.entries(statuses ?? {}).flatMap(([id, status]) => (status === wanted ? [id] : []));
  return [
    ...namesLine('succeeded before', those('succeeded'), terminal),
    ...namesLine('cancelled', those('cancelled'), terminal),
    ...namesLine('not started', those(null), terminal),
  ];
}
