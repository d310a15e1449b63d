import type { RunRecord } from '../../runs/record.js';
import { oneLine } from '../printable.js';
import { PROGRAM } from '../program.js';
import { courseLines } from '../run/course.js';
import { shownFailures } from '../run/failures.js';
import { summaryLine } from '../run/summary.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { screenLines } from '../wrap.js';
import { nextLines } from './next.js';

/** How a run ended that has not succeeded: what failed, of a plan what became of its sub-pipelines, and what to do. */
export function unsuccessfulLines(record: RunRecord, style: Style, terminal: Terminal): string[] {
  const { run_id, failures, error } = record;
  return [
    ...screenLines(summaryLine(record, style), terminal),
    ...(failures.length === 0 && error !== null ? [`  ${style.red(oneLine(error))}`] : []),
    ...shownFailures(failures, style, terminal, `${PROGRAM} runs show ${run_id} --json has them all`),
    ...courseLines(record, terminal),
    ...nextLines(record, style),
  ];
}
