import { formatStartedBy } from '../../../common/wire/started-by.js';
import { describeWait } from '../../../common/wire/run-summary.js';
import { statusFormatter } from '../../render/run-summary.js';
import { type Column, formatColumns } from '../../render/table.js';
import type { Formatter, Style, Terminal } from '../../render/terminal.js';
import { formatAge, toSingleLine, truncateMiddle } from '../../render/text.js';
import type { RunOfList } from './kept-listing.js';

/** Of a run that waits at a breakpoint. */
export const PAUSED = 'paused';

/** Of a run of the history whose process ended before it had settled. */
export const INTERRUPTED = 'interrupted';

/** Terminals that are narrower get the end of each run id, which the other commands take. */
const COLUMNS_FOR_IDS = 72;
const COLUMNS_FOR_SHORT_IDS = 48;

/** So wide is a terminal on which a line also says what its run is about. */
const COLUMNS_FOR_GOALS = 120;

/** A narrower terminal has no room for a goal beside the pipeline. */
const COLUMNS_FOR_FOUND_GOALS = 60;

/** Of a goal or an error in a file or a pipe. */
const MOST_CHARACTERS = 200;

/** Formats runs as lines of a table. @param isSearch says what each is about also where there is less room */
export function formatRuns(
  runs: readonly RunOfList[],
  terminal: Terminal,
  now: number,
  isSearch = false,
): string[] {
  const { style } = terminal;
  if (runs.length === 0) return [style.dim('no runs found')];
  // An older server sends no waits.
  const hasWaits = runs.some(({ waiting_for: wait }) => wait);
  const hasGoals = hasRoomForGoals(terminal, isSearch || hasWaits);
  const idLength = idLengthFor(terminal, hasGoals);
  const columns: Column<RunOfList>[] = [
    { heading: 'RUN ID', cell: ({ run_id: id }) => id.slice(-idLength) },
    { heading: 'STATUS', cell: wordOf },
    { heading: 'AGE', cell: (run) => formatAge(now - Date.parse(run.created_at)), dispensable: 1 },
    { heading: 'TASKS', cell: formatTasks, dispensable: 2 },
  ];
  let last: Column<RunOfList> = { heading: 'PIPELINE', cell: formatPipeline };
  if (hasGoals) {
    const width = !terminal.interactive || terminal.columns >= COLUMNS_FOR_GOALS ? 32 : 20;
    columns.push({ ...last, cell: (run) => truncateMiddle(formatPipeline(run), width) });
    const heading = hasWaits ? 'GOAL, ERROR OR WAIT' : 'GOAL OR ERROR';
    last = { heading, cell: formatGoal, hasSentences: true };
  }
  const paint = (line: string, run: RunOfList): string => {
    const word = wordOf(run);
    return line.replace(` ${word} `, ` ${formatStatus(run.status, style)(word)} `);
  };
  return formatColumns({ rows: runs, columns, last, paint }, terminal);
}

function hasRoomForGoals({ interactive, columns }: Terminal, isSearch: boolean): boolean {
  if (!interactive) return isSearch;
  return columns >= (isSearch ? COLUMNS_FOR_FOUND_GOALS : COLUMNS_FOR_GOALS);
}

function idLengthFor({ interactive, columns }: Terminal, hasGoals: boolean): number {
  if (!interactive || columns >= (hasGoals ? COLUMNS_FOR_GOALS : COLUMNS_FOR_IDS))
    return Number.POSITIVE_INFINITY;
  return columns < COLUMNS_FOR_SHORT_IDS ? 8 : 12;
}

/** The goal of a run; the error of one that has failed; what one waits for. */
function formatGoal({ goal, error, waiting_for: wait }: RunOfList): string {
  if (wait) return `waits for ${toSingleLine(describeWait(wait))}`;
  return toSingleLine((error ?? goal).slice(0, MOST_CHARACTERS));
}

function formatStatus(status: RunOfList['status'], style: Style): Formatter {
  return status === INTERRUPTED ? style.yellow : statusFormatter(status, style);
}

function wordOf({ status, paused }: RunOfList): string {
  return paused ? PAUSED : status;
}

function formatTasks({ progress: { tasks, tasks_settled: settled } }: RunOfList): string {
  return `${settled ?? '?'}/${tasks}`;
}

function formatPipeline(run: RunOfList): string {
  return `${toSingleLine(run.pipeline_id)}${describeKind(run)}`;
}

/** ` (plan, schedule)`: what a run is that is not a pipeline, and what has started it; of a key also its name. */
function describeKind({ kind, trigger, started_by: startedBy }: RunOfList): string {
  const words: string[] = [...(kind === 'plan' ? [kind] : []), ...(trigger ? [trigger] : [])];
  // An older server does not say who has started a run.
  if (startedBy?.kind === 'key') words.push(toSingleLine(formatStartedBy(startedBy)));
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}
