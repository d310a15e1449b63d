import type { RunSummary } from '../../runs/record.js';
import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { clip, padTo, widthOf } from '../width.js';
import { duration } from '../words.js';
import { paintOf } from './status-word.js';

export interface ListView {
  readonly terminal: Terminal;
  readonly style: Style;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const HEADINGS = ['RUN ID', 'STATUS', 'AGE', 'TASKS', 'PIPELINE'];

/** A table of runs, one line each; it is as wide as a terminal, and as wide as it is anywhere else. */
export function listLines(runs: readonly RunSummary[], view: ListView): string[] {
  const { terminal, style, now } = view;
  if (runs.length === 0) return [style.dim('there are no such runs')];
  const rows = [HEADINGS, ...runs.map((run) => cellsOf(run, now))];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  const room = terminal.interactive ? terminal.columns - 1 : Number.POSITIVE_INFINITY;
  return rows.map((row, index) => {
    const cells = row.map((cell, column) => padTo(cell, widths[column] ?? 0));
    const status = runs[index - 1]?.status;
    const line = cells.join('  ').trimEnd();
    const shown = Number.isFinite(room) ? clip(line, room) : line;
    if (status === undefined) return style.dim(shown);
    return shown.replace(` ${status} `, ` ${paintOf(status, style)(status)} `);
  });
}

function cellsOf(run: RunSummary, now: number): string[] {
  const { tasks, tasks_settled } = run.progress;
  return [
    run.run_id,
    run.status,
    duration(now - Date.parse(run.created_at)),
    `${tasks_settled}/${tasks}`,
    `${oneLine(run.pipeline_id)}${run.kind === 'plan' ? ' (plan)' : ''}`,
  ];
}
