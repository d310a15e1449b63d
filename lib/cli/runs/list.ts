import type { RunStatus } from '../../../machines/types.js';
import type { RunSummary } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readNumber } from '../input/flags.js';
import { statusFormatter } from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal, type Terminal } from '../render/terminal.js';
import { displayWidth, formatDuration, padToWidth, toSingleLine, truncateToWidth } from '../render/text.js';
import { UsageError } from '../usage-errors.js';
import { callServer, listNewestRuns, type ServerFlags } from './server-client.js';

interface ListFlags extends ServerFlags {
  readonly status: string | undefined;
  readonly pipeline: string | undefined;
  readonly tenant: string | undefined;
  readonly limit: string | undefined;
  readonly all: boolean;
  readonly json: boolean;
}

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];
const DEFAULT_LIMIT = 20;
const LIMIT = { least: 1, whole: true, unit: 'runs', example: '50' } as const;

/** Lists the runs of a server, the newest first. */
export async function listRuns(flags: ListFlags, context: CliContext): Promise<ExitStatus> {
  const limit = readNumber('--limit', flags.limit, LIMIT) ?? DEFAULT_LIMIT;
  if (flags.all && flags.limit !== undefined) throw new UsageError('give --limit or --all, not both');
  const query = { status: readStatus(flags), pipeline_id: flags.pipeline, tenant_id: flags.tenant };
  const most = flags.all ? Number.POSITIVE_INFINITY : limit;
  const { runs, hasMore } = await callServer(flags, context, (client) => listNewestRuns(client, query, most));
  if (flags.json) {
    printJson({ runs }, context);
    return EXIT.done;
  }
  const terminal = detectTerminal(context.stdout, context.env);
  const lines = formatRunTable(runs, terminal, context.clock.now());
  context.stdout.write(`${lines.join('\n')}\n`);
  if (hasMore)
    context.stderr.write('the server has more runs: --limit N lists N of them, --all lists every run\n');
  return EXIT.done;
}

function readStatus({ status }: ListFlags): RunStatus | undefined {
  if (status === undefined) return undefined;
  const valid = STATUSES.find((one) => one === status);
  if (valid !== undefined) return valid;
  throw new UsageError(`--status must be one of ${STATUSES.join(', ')}, not "${status}"`);
}

const HEADINGS = ['RUN ID', 'STATUS', 'AGE', 'TASKS', 'PIPELINE'];

/** Terminals that are narrower get the end of each run id, which the other commands take. */
const COLUMNS_FOR_IDS = 72;
const COLUMNS_FOR_SHORT_IDS = 48;

/** One line per run, truncated on a terminal. */
function formatRunTable(
  runs: readonly RunSummary[],
  { interactive, columns, style }: Terminal,
  now: number,
): string[] {
  if (runs.length === 0) return [style.dim('no runs found')];
  const rows = [HEADINGS, ...runs.map((run) => formatCells(run, now))];
  if (interactive && columns < COLUMNS_FOR_IDS) {
    const length = columns < COLUMNS_FOR_SHORT_IDS ? 8 : 12;
    for (const row of rows) row[0] = row[0]?.slice(-length) ?? '';
  }
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))));
  return rows.map((row, index) => {
    const cells = row.map((cell, column) => padToWidth(cell, widths[column] ?? 0));
    const line = cells.join('  ').trimEnd();
    const shown = interactive ? truncateToWidth(line, columns - 1) : line;
    const status = runs[index - 1]?.status;
    if (status === undefined) return style.dim(shown);
    return shown.replace(` ${status} `, ` ${statusFormatter(status, style)(status)} `);
  });
}

function formatCells(run: RunSummary, now: number): string[] {
  const { tasks, tasks_settled } = run.progress;
  return [
    run.run_id,
    run.status,
    formatDuration(now - Date.parse(run.created_at)),
    `${tasks_settled}/${tasks}`,
    `${toSingleLine(run.pipeline_id)}${run.kind === 'plan' ? ' (plan)' : ''}`,
  ];
}
