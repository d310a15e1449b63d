import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import { systemClock } from '../../../lib/common/clock.js';
import { createSqlQuery } from '../../../lib/tools/builtin/sql-query/sql-query.js';
import { networkAccess } from '../../../lib/tools/fetching/network.js';
import { TemporaryFolder } from '../../../spec/support/temporary-folder.js';
import { toolContext } from '../../../spec/support/tool-context.js';
import { startPostgres } from '../../../spec/tools/builtin/sql-query/postgres-server.js';
import { compare, timed } from '../../measure.js';

/**
 * `npm run bench:sql`: what `sql_query` adds to the driver of PostgreSQL in this process, and how fast it writes a file against COPY by
 * psql. The server is on this machine, too.
 */
const CALLS = 2000;
const ROWS = 5_000_000;
const MIB = 2 ** 20;

const TABLE = `create unlogged table orders as
  select n as id, 'customer ' || n as name, (n * 1.25)::numeric(12, 2) as amount,
    timestamp '2024-01-01' + n * interval '1 second' as at
  from generate_series(1, ${ROWS}) n`;

const server = await startPostgres();
if (typeof server === 'string') throw new Error(server);
const folder = new TemporaryFolder();
const client = new pg.Client({ connectionString: server.url });
try {
  await client.connect();
  await client.query(TABLE);
  await client.query('analyze orders');
  await compareFiles(server.url);
  await compareCalls(server.url);
} finally {
  await client.end();
  server.stop();
  folder.remove();
}

async function compareCalls(url: string): Promise<void> {
  const network = networkAccess({ allowPrivate: true });
  const created = toolContext();
  const context = {
    ...created,
    clock: systemClock,
    connect: (host: string, port: number) =>
      network.connect(host, port, { tenantId: 'bench', clock: systemClock, signal: created.signal }),
  };
  const tool = createSqlQuery();
  const inputs = { url, query: 'select 1', params: {}, max_rows: 1000, files: {} };
  const repeat = async (call: () => unknown): Promise<void> => {
    for (let count = 0; count < CALLS; count++) await call();
  };
  const times = await compare(
    {
      driver: () => repeat(() => client.query('select 1 where $1::int = 1', [1])),
      tool: () => repeat(() => tool.run(inputs, context)),
    },
    { rounds: 7, warmup: 2 },
  );
  const [driver, own] = [times.driver, times.tool].map((ms) => ((1000 * ms) / CALLS).toFixed(0));
  print(
    'select 1 over a connection that is kept, against pg',
    times.tool / times.driver,
    `${own} µs, pg ${driver} µs`,
  );
}

/** The same rows: as a file of a run, and as the output of COPY. */
async function compareFiles(url: string): Promise<void> {
  const executor = new LocalExecutor({
    network: networkAccess({ allowPrivate: true }),
    artifactFolder: folder.path,
  });
  const pipeline = parsePipeline(
    `{id: p, goal: g, tasks: [{id: a, tool: sql_query, inputs: {url: "${url}", query: "select * from orders", format: csv}}]}`,
  );
  // The pages of the table are in memory then.
  await client.query('select sum(length(name)) from orders');
  const startBytes = process.memoryUsage.rss();
  let mostBytes = 0;
  const timer = setInterval(() => (mostBytes = Math.max(mostBytes, process.memoryUsage.rss())), 20);
  const ms = await timed(async () => executor.getResult(await executor.submit({ pipeline })));
  clearInterval(timer);
  await executor.close();
  const copyMs = await timed(() => copy(url, join(folder.path, 'copy.csv')));
  const memory = `${Math.round(mostBytes / MIB)} MiB of memory, ${Math.round(startBytes / MIB)} before`;
  const detail = `${(ms / 1000).toFixed(1)} s, COPY ${(copyMs / 1000).toFixed(1)} s; ${memory}`;
  print('5,000,000 rows to a file of CSV: speed against COPY', copyMs / ms, detail);
}

/** As PostgreSQL itself does it: its own program writes the file. */
async function copy(url: string, path: string): Promise<void> {
  const words = [url, '-q', '-c', 'copy orders to stdout (format csv, header)', '-o', path];
  await promisify(execFile)('psql', words);
}

function print(what: string, ratio: number, detail: string): void {
  console.log(`| ${what} | ${ratio.toFixed(2)}x | ${detail} |`);
}
