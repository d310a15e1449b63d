import { formatStartedBy } from '../../../common/wire/started-by.js';
import { statusFormatter } from '../../render/run-summary.js';
import { type Column, formatColumns } from '../../render/table.js';
import type { Formatter, Style, Terminal } from '../../render/terminal.js';
import { formatAge, toSingleLine } from '../../render/text.js';
import type { ListedRun } from './kept-listing.js';

/** Of a run that waits at a breakpoint. */
export const PAUSED = 'paused';

/** Of a run of the history whose process ended before it had settled. */
export const INTERRUPTED = 'interrupted';

/** Terminals that are narrower get the end of each run id, which the other commands take. */
const COLUMNS_FOR_IDS = 72;
const COLUMNS_FOR_SHORT_IDS = 48;

/** Formats runs as lines of a table. */
export function formatRuns(runs: readonly ListedRun[], terminal: Terminal, now: number): string[] {
  const { style } = terminal;
  if (runs.length === 0) return [style.dim('no runs found')];
  const idLength = idLengthFor(terminal);
  const columns: Column<ListedRun>[] = [
    { heading: 'RUN ID', cell: ({ run_id: id }) => id.slice(-idLength) },
    { heading: 'STATUS', cell: wordOf },
    { heading: 'AGE', cell: (run) => formatAge(now - Date.parse(run.created_at)), dispensable: 1 },
    { heading: 'TASKS', cell: formatTasks, dispensable: 2 },
  ];
  const last: Column<ListedRun> = { heading: 'PIPELINE', cell: formatPipeline };
  const paint = (line: string, run: ListedRun): string => {
    const word = wordOf(run);
    return line.replace(` ${word} `, ` ${formatStatus(run.status, style)(word)} `);
  };
  return formatColumns({ rows: runs, columns, last, paint }, terminal);
}

function idLengthFor({ interactive, columns }: Terminal): number {
  if (!interactive || columns >= COLUMNS_FOR_IDS) return Number.POSITIVE_INFINITY;
  return columns < COLUMNS_FOR_SHORT_IDS ? 8 : 12;
}

function formatStatus(status: ListedRun['status'], style: Style): Formatter {
  return status === INTERRUPTED ? style.yellow : statusFormatter(status, style);
}

function wordOf({ status, paused }: ListedRun): string {
  return paused ? PAUSED : status;
}

function formatTasks({ progress: { tasks, tasks_settled: settled } }: ListedRun): string {
  return `${settled ?? '?'}/${tasks}`;
}

function formatPipeline(run: ListedRun): string {
  return `${toSingleLine(run.pipeline_id)}${describeKind(run)}`;
}

/** ` (plan, schedule)`: what a run is that is not a pipeline, and what has started it; of a key also its name. */
function describeKind({ kind, trigger, started_by: startedBy }: ListedRun): string {
  const words: string[] = [...(kind === 'plan' ? [kind] : []), ...(trigger ? [trigger] : [])];
  // An older server does not say who has started a run.
  if (startedBy?.kind === 'key') words.push(toSingleLine(formatStartedBy(startedBy)));
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}
