import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Table } from '../../http/table.js';
import { Api, sleep } from '../../soak/api.js';
import { createKeys, type Keys, type ServerProcess, startWavetrain } from '../../soak/servers.js';

/**
 * `npm run bench:restart [-- COUNT]`: one tenant submits definitions of many templates that wait at a breakpoint or in the
 * queue (250 of each shape), another one works; then the server is killed and started again. Measures the memory of the
 * server, when it is ready again, and what the other tenant waits for.
 */
const [count = '250'] = process.argv.slice(2);

const MEMORY_MIB = 256;
const MAX_RESIDENT_MIB = 3 * MEMORY_MIB + 250;
const MAX_READY_MS = 3000;
const MAX_SLOWDOWN = 12;

const range = <T>(length: number, of: (at: number) => T): T[] => Array.from({ length }, (_, at) => of(at));

/** Shapes of definitions that compile to far more than their text, a new definition for each number. */
const SHAPES: Record<string, (number: number) => unknown> = {
  dense: (number) =>
    range(300, (at) => ({
      id: `t${at}`,
      tool: 'mock',
      inputs: { number, x: range(Math.min(80, at), (back) => `{{t${at - 1 - back}.output.x}}`).join('') },
    })),
  short: (number) =>
    range(300, (at) => ({
      id: `t${at}`,
      tool: 'mock',
      inputs: { number, x: at === 0 ? '' : '{{t0}}'.repeat(150) },
    })),
};

const HONEST = {
  pipeline: {
    id: 'honest',
    goal: 'g',
    tasks: [
      { id: 'a', tool: 'mock' },
      { id: 'b', tool: 'mock', inputs: { of: '{{a.output}}' } },
    ],
  },
};

const table = new Table();
for (const shape of Object.keys(SHAPES)) for (const hasStore of [false, true]) await measure(shape, hasStore);
table.print();
process.exit(table.missed > 0 ? 1 : 0);

async function measure(shape: string, hasStore: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wavetrain-restart-'));
  const keys = createKeys();
  const name = `${count} runs of ${shape} templates, ${hasStore ? 'with' : 'without'} a store`;
  const start = (): ServerProcess =>
    startWavetrain(folder, keys, { env: hasStore ? { SERVICE_STORE: join(folder, 'runs.db') } : {} });
  let server = start();
  try {
    await becomeReady(server);
    const alone = await work(server, keys, async () => sleep(3000));
    const statuses = new Map<number, number>();
    const during = await work(server, keys, () => submitAll(server, keys, shape, statuses));
    const answers = [...statuses].map(([status, times]) => `${times} times ${status}`).join(', ');
    addRows(name, server, alone, during, answers);
    if (!hasStore) return;
    await server.kill();
    server = start();
    const readyMs = await becomeReady(server);
    table.add({
      measure: `${name}: ready after kill -9`,
      result: `${readyMs.toFixed(0)} ms`,
      limit: `<= ${MAX_READY_MS} ms`,
      detail: 'from the start of the process',
      ok: readyMs <= MAX_READY_MS,
    });
    const after = await work(server, keys, () => awaitRestored(server, keys));
    addRows(`${name}, after kill -9`, server, alone, after, 'while the runs are taken over');
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves with the time until the server accepts runs. */
async function becomeReady(server: ServerProcess): Promise<number> {
  const began = performance.now();
  const api = new Api(await server.url, '', 10_000);
  while ((await api.send('GET', '/ready')).status !== 200) await sleep(10);
  api.close();
  return performance.now() - began;
}

async function submitAll(
  server: ServerProcess,
  keys: Keys,
  shape: string,
  statuses: Map<number, number>,
): Promise<void> {
  const api = new Api(await server.url, keys.mallory, 60_000);
  for (let number = 0; number < Number(count); number++) {
    const pipeline = { id: `p${number}`, goal: 'g', tasks: SHAPES[shape]?.(number) };
    const body = { pipeline, breakpoints: { before: ['t0'] } };
    const { status } = await api.send('POST', '/pipelines/run_async', body);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  api.close();
}

/** A list waits until all runs of its tenant are there. */
async function awaitRestored(server: ServerProcess, keys: Keys): Promise<void> {
  const api = new Api(await server.url, keys.mallory, 120_000);
  await api.send('GET', '/pipelines/runs?limit=1');
  api.close();
}

/** Sends runs of another tenant, one after another, until `work` is over. Resolves with their times, sorted. */
async function work(server: ServerProcess, keys: Keys, other: () => Promise<void>): Promise<number[]> {
  const api = new Api(await server.url, keys.bob, 60_000);
  const state = { isOver: false };
  const over = other().then(() => {
    state.isOver = true;
  });
  const times: number[] = [];
  while (!state.isOver) {
    const { status, ms } = await api.send('POST', '/pipelines/run', HONEST);
    if (status !== 200) throw new Error(`a run of the other tenant was answered with ${status}`);
    times.push(ms);
    await sleep(5);
  }
  await over;
  api.close();
  return times.toSorted((a, b) => a - b);
}

function addRows(
  name: string,
  { pid }: ServerProcess,
  alone: readonly number[],
  during: readonly number[],
  detail: string,
): void {
  const mib = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  table.add({
    measure: `${name}: highest memory`,
    result: `${mib.toFixed(0)} MiB`,
    limit: `<= ${MAX_RESIDENT_MIB} MiB`,
    detail,
    ok: mib <= MAX_RESIDENT_MIB,
  });
  const slowdown = percentile(during, 0.99) / percentile(alone, 0.99);
  const show = (times: readonly number[]): string =>
    `p50 ${percentile(times, 0.5).toFixed(1)}, p99 ${percentile(times, 0.99).toFixed(1)} ms`;
  table.add({
    measure: `${name}: p99 of a run of another tenant`,
    result: `${slowdown.toFixed(1)}x`,
    limit: `<= ${MAX_SLOWDOWN}x`,
    detail: `${during.length} runs: ${show(during)}; alone: ${show(alone)}`,
    ok: slowdown <= MAX_SLOWDOWN,
  });
}

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
