import type { RunRecord } from '../../runs/record.js';
import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { hintLine, namesLine, shownFailures } from './failures.js';
import type { PlanCourse } from './plan-course.js';

/** What failed, by sub-pipeline and task, which sub-pipelines succeeded before, which never started, and what to do. */
export function planFailureLines(
  record: RunRecord,
  course: PlanCourse,
  style: Style,
  terminal: Terminal,
): string[] {
  const { failures, error } = record;
  return [
    ...(failures.length === 0 && error !== null ? [`  ${style.red(oneLine(error))}`] : []),
    ...shownFailures(failures, style, terminal),
    ...namesLine('succeeded before', course.in('succeeded'), terminal),
    ...namesLine('cancelled', course.in('cancelled'), terminal),
    ...namesLine('not started', course.notStarted(), terminal),
    ...hintLine(record, style),
  ];
}
