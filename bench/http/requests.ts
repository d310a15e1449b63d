import { Child } from './child.js';
import { compareLoads, type Comparison, type Load } from './load.js';
import { ONE_MOCK } from './pipelines.js';
import { postJson } from './post.js';
import type { Table } from './table.js';

const ROUNDS = { rounds: 7, seconds: 2 };

/** Measures requests per second, relative to a bare Koa server with the same requests. */
export async function measureRequests(table: Table): Promise<void> {
  const server = await Child.open('server', [JSON.stringify({ SERVICE_MAX_QUEUED: '1000000' })]);
  const floor = await Child.open('floor');
  const both = async (load: Omit<Load, 'server'>): Promise<Comparison> =>
    compareLoads({ server, ...load }, { server: floor, ...load }, ROUNDS);

  const run = await both({ method: 'POST', path: '/pipelines/run', body: ONE_MOCK });
  addRow(table, 'POST /pipelines/run of one mock task', run, 0.55, 0.7);
  table.add({
    measure: 'its p99',
    result: `${run.ratio.p99Ms.toFixed(2)}x`,
    limit: '<= 2.5x',
    aim: '2x',
    ok: run.ratio.p99Ms <= 2.5,
    detail: `${run.ours.p99Ms.toFixed(2)} ms, floor ${run.floor.p99Ms.toFixed(2)} ms`,
  });

  const submitted = await both({ method: 'POST', path: '/pipelines/run_async', body: ONE_MOCK });
  const { queued, running } = await server.request<{ queued: number; running: number }>('load');
  const left = `${queued} queued and ${running} running at its end`;
  addRow(table, 'POST /pipelines/run_async of the same', submitted, 0.5, 0.65, left);

  const { run_id } = await postJson<{ run_id: string }>(server.url, '/pipelines/run_async', ONE_MOCK);
  const path = `/pipelines/runs/${run_id}`;
  const record: unknown = await (await fetch(`${server.url}${path}?wait=10`)).json();
  await floor.request('hold', record);
  addRow(table, 'GET of a record', await both({ method: 'GET', path }), 0.9, 1);
  await server.close();
  await floor.close();
}

function addRow(
  table: Table,
  measure: string,
  { ours, floor, ratio }: Comparison,
  least: number,
  aim: number,
  remark?: string,
): void {
  const detail = [
    `${ours.perSecond.toFixed(0)} a second, floor ${floor.perSecond.toFixed(0)}`,
    `${(ours.cpuMs * 1000).toFixed(0)} µs CPU each, floor ${(floor.cpuMs * 1000).toFixed(0)} µs`,
    ...(remark === undefined ? [] : [remark]),
  ];
  table.add({
    measure,
    result: `${ratio.perSecond.toFixed(2)}x`,
    limit: `>= ${least}x`,
    aim: `${aim}x`,
    ok: ratio.perSecond >= least,
    detail: detail.join('; '),
  });
}
