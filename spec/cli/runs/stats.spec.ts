import { expect } from 'chai';
import { WavetrainClient } from '../../../lib/client/index.js';
import type { StatisticsPage } from '../../../lib/runs/store/statistics/statistics-request.js';
import { FakeServer, respondJson } from '../../client/fake-server.js';
import { invoke, Screen } from '../invoke.js';
import { FAILING, HELLO, useRunsServer } from './runs-server.js';

describe('wavetrain runs stats', () => {
  const server = useRunsServer();

  before(async () => {
    for (let run = 0; run < 3; run++) await server.settled(HELLO);
    await server.settled(FAILING);
  });

  it('prints a line for each pipeline and day, and which time it counts', async () => {
    const { status, stdout, stderr } = await server.runs('stats');
    expect(status).to.equal(0);
    const [heading, failing, hello, ...others] = stdout.trimEnd().split('\n');
    expect(heading).to.match(/^DAY +SUCCEEDED {2}FAILED {2}CANCELLED +P50 +P95 {2}PIPELINE$/);
    expect(failing).to.match(/^\d{4}-\d\d-\d\d +0 +1 +0 +[\d.]+ m?s +[\d.]+ m?s {2}failing$/);
    expect(hello).to.match(/^\d{4}-\d\d-\d\d +3 +0 +0 +[\d.]+ m?s +[\d.]+ m?s {2}hello$/);
    expect(others).to.deep.equal([]);
    expect(stderr).to.match(/^runs that finished from \d{4}-\d\d-\d\d 00:00 to \d{4}-\d\d-\d\d 00:00 UTC\n$/);
  });

  it('selects a pipeline, a tenant, a time and its parts', async () => {
    const lines = async (flags: string): Promise<string[]> =>
      (await server.runs(`stats ${flags}`)).stdout.trimEnd().split('\n').slice(1);
    expect(await lines('--pipeline hello')).to.have.length(1);
    expect(await lines('--by hour --from 2h')).to.have.length(2);
    const [total] = await lines('--by total --pipeline hello');
    expect(total).to.match(/^ +3 +0 +0 /);
    for (const flags of ['--tenant nobody', '--from 2020-01-01 --to 2020-02-01']) {
      const { stdout } = await server.runs(`stats ${flags}`);
      expect(stdout, flags).to.equal('no runs have finished in this time\n');
    }
  });

  it('refuses what is no time and no period', async () => {
    for (const [flags, reason] of [
      ['--from yesterday', '--from must be how long ago, or a date or time, not "yesterday"'],
      ['--by week', '--by must be one of hour, day, total, not "week"'],
      ['--from 1h --to 2h', 'the time to count ends before it begins'],
    ] as const) {
      const { status, stderr } = await server.runs(`stats ${flags}`);
      expect(status, flags).to.not.equal(0);
      expect(stderr).to.contain(reason);
    }
  });

  it('prints one JSON document with --json (D41), as the client reads it', async () => {
    const { stdout, stderr } = await server.runs('stats --by total --json');
    const { from, to, by, rows }: StatisticsPage = JSON.parse(stdout);
    expect(stderr).to.equal('');
    const client = new WavetrainClient({ url: server.url });
    const page = { from, to, by, rows, next_cursor: null };
    expect(await client.stats({ from, to, by: 'total' })).to.deep.equal(page);
    expect(rows.map(({ pipeline_id, succeeded }) => [pipeline_id, succeeded])).to.deep.equal([
      ['failing', 0],
      ['hello', 3],
    ]);
  });

  it('reads all pages of the same time, and shows tenants and costs where there are several, or some', async () => {
    const row = { at: '2026-01-31T08:00:00.000Z', succeeded: 1200, failed: 2, cancelled: 0 };
    const rows = [
      { ...row, pipeline_id: 'p', tenant_id: 'a', p50_ms: 250, p95_ms: 61_000, cost: 1.5 },
      { ...row, pipeline_id: 'q', tenant_id: 'b', p50_ms: null, p95_ms: null },
    ];
    const bounds = { from: '2026-01-30T09:00:00.000Z', to: '2026-01-31T09:00:00.000Z', by: 'hour' };
    const pages = await FakeServer.open((response, { path }) => {
      const isSecond = path.includes('cursor=next') && path.includes('from=2026-01-30T09');
      const page = isSecond
        ? { rows: rows.slice(1), next_cursor: null }
        : { rows: rows.slice(0, 1), next_cursor: 'next' };
      respondJson(response, 200, { ...bounds, ...page });
    });
    const env = { WAVETRAIN_SERVER: pages.url };
    const { stdout } = await invoke(['runs', 'stats', '--by', 'hour'], { env });
    await pages.close();
    expect(stdout).to.equal(
      [
        'HOUR              SUCCEEDED  FAILED  CANCELLED    P50        P95   COST  TENANT  PIPELINE',
        '2026-01-31 08:00      1,200       2          0  0.3 s  1 min 1 s  $1.50  a       p',
        '2026-01-31 08:00      1,200       2          0      -          -      -  b       q',
        '',
      ].join('\n'),
    );
  });

  it('gives up columns on a narrow terminal before it shortens the pipeline', async () => {
    const screens = { stdout: new Screen(50), stderr: new Screen(50) };
    const env = { WAVETRAIN_SERVER: server.url, NO_COLOR: '1' };
    const { stdout } = await server.runs('stats', { ...screens, env });
    const [heading, failing] = stdout.trimEnd().split('\n');
    expect(heading).to.match(/^DAY +SUCCEEDED {2}FAILED +P95 {2}PIPELINE$/);
    expect(failing).to.match(/ {2}failing$/);
  });
});
