import type { RunStatus } from '../../../machines/types.js';
import type { RunSummary } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readNumber } from '../input/flags.js';
import { paintOf } from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { type Style, styleOf, type Terminal, terminalOf } from '../render/terminal.js';
import { clip, duration, oneLine, padTo, widthOf } from '../render/text.js';
import { BadUsage } from '../usage-errors.js';
import { ask, newestRuns, type ServerFlags } from './server.js';

interface ListFlags extends ServerFlags {
  readonly status: string | undefined;
  readonly pipeline: string | undefined;
  readonly tenant: string | undefined;
  readonly limit: string | undefined;
  readonly all: boolean;
  readonly json: boolean;
}

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];
const USUAL_LIMIT = 20;
const LIMIT = { least: 1, whole: true, unit: 'runs', example: '50' } as const;

/** Lists runs of a server, the newest first. */
export async function listRuns(flags: ListFlags, context: CliContext): Promise<ExitStatus> {
  const limit = readNumber('--limit', flags.limit, LIMIT) ?? USUAL_LIMIT;
  if (flags.all && flags.limit !== undefined) throw new BadUsage('give --limit or --all, not both');
  const query = { status: statusIn(flags), pipeline_id: flags.pipeline, tenant_id: flags.tenant };
  const most = flags.all ? Number.POSITIVE_INFINITY : limit;
  const { runs, hasMore } = await ask(flags, context, (client) => newestRuns(client, query, most));
  const terminal = terminalOf(context.stdout, context.env);
  if (flags.json) printJson({ runs }, context);
  else {
    const lines = listLines(runs, { terminal, style: styleOf(terminal), now: context.clock.now() });
    context.stdout.write(`${lines.join('\n')}\n`);
    if (hasMore) context.stderr.write('there are more: --all lists every run, --limit N so many\n');
  }
  return EXIT.done;
}

function statusIn({ status }: ListFlags): RunStatus | undefined {
  if (status === undefined) return undefined;
  const known = STATUSES.find((one) => one === status);
  if (known !== undefined) return known;
  throw new BadUsage(`--status takes ${STATUSES.join(', ')}, not "${status}"`);
}

interface ListView {
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
