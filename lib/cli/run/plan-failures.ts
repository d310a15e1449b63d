import type { RunRecord } from '../../runs/record.js';
import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { courseLines } from './course.js';
import { hintLines, shownFailures } from './failures.js';

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
