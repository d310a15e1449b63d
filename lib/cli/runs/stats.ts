import type { PipelineStatistics, StatisticsPeriod } from '../../runs/store/statistics/statistics-query.js';
import type { StatisticsPage } from '../../runs/store/statistics/statistics-request.js';
import type { WavetrainClient } from '../../client/client.js';
import type { StatsQuery } from '../../client/requests.js';
import { formatCost, formatDuration, formatNumber } from '../../common/text.js';
import { ServerCommand, textOption, flagOption } from '../input/shared-options.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readChoice } from '../input/flags.js';
import { readTimeFlag } from '../input/times.js';
import { printJson, printNote } from '../render/stdout.js';
import { detectTerminal, type Terminal } from '../render/terminal.js';
import { type Column, formatColumns, tenantColumns } from '../render/table.js';
import { toSingleLine } from '../render/text.js';
import { explainServersOnly } from './kept-run.js';
import { callServer } from './server-client.js';

const PERIODS = ['hour', 'day', 'total'] as const;

/** The largest page of a server. */
const ROWS_PER_PAGE = 5000;

export class RunsStatsCommand extends ServerCommand {
  static override paths = [['runs', 'stats']];
  static override usage = ServerCommand.Usage({
    description: 'counts the runs of each pipeline of a server, with their durations and costs',
    details: `
      A line counts the runs of a pipeline or plan that have finished in an hour or a day (of UTC): half of those that had
      started took P50 at most, 95 % of them P95, within 5 %. With a store, a server counts runs for 400 days, also those
      that it has deleted since, such as synchronous ones that have succeeded; without a store, only those that it keeps.
      The history of a folder has none. If a server requires an API key, set WAVETRAIN_API_KEY.`,
    examples: [
      ['the last 7 days, day by day', '$0 runs stats'],
      ['the last 24 hours of one pipeline', '$0 runs stats --pipeline nightly --by hour'],
      [
        'all pipelines in January',
        '$0 runs stats --from 2026-01-01T00:00Z --to 2026-02-01T00:00Z --by total',
      ],
      ['what failed', "$0 runs stats --json | jq '.rows[] | select(.failed > 0)'"],
    ],
  });

  pipeline = textOption`--pipeline <ID> only runs of this pipeline or plan`;
  tenant = textOption`--tenant <ID> only runs of this tenant`;
  from = textOption`--from <TIME> the beginning of the time that is counted: how long ago (90m, 2h, 3d, 1w), or a date or time
    of ISO 8601 (without a zone, in that of this machine); rounded down to an hour or a day; default 7 days, by hour 24
    hours, before --to`;
  to = textOption`--to <TIME> its end, written like --from and rounded up; default now`;
  by = textOption`--by <PERIOD> the time of a line: hour, day or total; default day`;
  json = flagOption`--json print the statistics as one JSON document`;

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const { stdout, env } = context;
    const query = {
      by: readChoice('--by', this.by, PERIODS),
      from: readTimeFlag('--from', this.from, context.clock.now()),
      to: readTimeFlag('--to', this.to, context.clock.now()),
      pipeline_id: this.pipeline,
      tenant_id: this.tenant,
    };
    const statistics = await callServer(this, context, (client) => readAllPages(client, query)).catch(
      async (error: unknown) => {
        throw await explainServersOnly(error, 'statistics', this, context);
      },
    );
    if (this.json) {
      printJson(statistics, context);
      return EXIT.done;
    }
    stdout.write(`${formatStatistics(statistics, detectTerminal(stdout, env)).join('\n')}\n`);
    const { from, to } = statistics;
    const period = `runs that finished from ${toShortTime(from)} to ${toShortTime(to)} UTC`;
    printNote(period, context);
    return EXIT.done;
  }
}

type AllStatistics = Omit<StatisticsPage, 'next_cursor'>;

/** Later pages count the time of the first one, which has ended meanwhile. */
async function readAllPages(client: WavetrainClient, query: StatsQuery): Promise<AllStatistics> {
  const { next_cursor: next, ...first } = await client.stats({ ...query, limit: ROWS_PER_PAGE });
  const rows = [...first.rows];
  const { from, to, by } = first;
  for (let cursor = next; cursor !== null; ) {
    const page = await client.stats({ ...query, from, to, by, limit: ROWS_PER_PAGE, cursor });
    rows.push(...page.rows);
    cursor = page.next_cursor;
  }
  return { ...first, rows };
}

function formatStatistics({ rows, by }: AllStatistics, terminal: Terminal): string[] {
  if (rows.length === 0) return [terminal.style.dim('no runs have finished in this time')];
  const last: Column<PipelineStatistics> = {
    heading: 'PIPELINE',
    cell: ({ pipeline_id: id }) => toSingleLine(id),
  };
  return formatColumns({ rows, columns: chooseColumns(rows, by), last }, terminal);
}

function chooseColumns(
  rows: readonly PipelineStatistics[],
  by: StatisticsPeriod,
): readonly Column<PipelineStatistics>[] {
  const numbers: Column<PipelineStatistics>[] = [
    { heading: 'SUCCEEDED', cell: ({ succeeded }) => formatNumber(succeeded) },
    { heading: 'FAILED', cell: ({ failed }) => formatNumber(failed) },
    { heading: 'CANCELLED', cell: ({ cancelled }) => formatNumber(cancelled), dispensable: 4 },
    { heading: 'P50', cell: ({ p50_ms: ms }) => formatMs(ms), dispensable: 2 },
    { heading: 'P95', cell: ({ p95_ms: ms }) => formatMs(ms), dispensable: 1 },
  ];
  if (rows.some(({ cost }) => cost !== undefined)) {
    const cell = ({ cost }: PipelineStatistics): string => (cost === undefined ? '-' : formatCost(cost));
    numbers.push({ heading: 'COST', cell, dispensable: 3 });
  }
  const columns = numbers.map((column) => ({ ...column, alignsRight: true }));
  const time: Column<PipelineStatistics>[] =
    by === 'total' ? [] : [{ heading: by.toUpperCase(), cell: ({ at }) => formatPeriod(at, by) }];
  return [...time, ...columns, ...tenantColumns(rows)];
}

function formatMs(ms: number | null): string {
  return ms === null ? '-' : formatDuration(ms);
}

function formatPeriod(at: string, by: StatisticsPeriod): string {
  return by === 'day' ? at.slice(0, 10) : toShortTime(at);
}

/** `2026-01-31 08:00`, of UTC */
function toShortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}
