import { fsyncSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { RunQuery } from '../../../lib/runs/views/run-query.js';
import type { RunRegistry } from '../../../lib/runs/registry.js';
import type { StatisticsRequest } from '../../../lib/runs/store/statistics/statistics-request.js';
import { heapInUse } from '../../measure.js';
import { Table } from '../../http/table.js';
import { createPipeline, openRegistry } from '../registries.js';
import { measureBesideRuns } from './beside-runs.js';
import { customerOf, fill, hasUnpacked, PIPELINES } from './fill.js';

/**
 * `npm run bench:archive [-- COUNT]`: a file with so many settled runs of five tasks (1,000,000). Measures how long a start
 * takes, how much memory the file needs, and what lists, searches, counts, statistics and reading one run take.
 */
const count = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 200;
const TEXT_ROUNDS = 10;
const STATISTICS_ROUNDS = 50;
/** Runs that are opened before it is measured. */
const WARM_UP = 100;

const RUNS_OF_100_TASKS = 500;
const ITEMS = 10_000;
const RUNS_OF_ITEMS = 5;
const PAGES = 300;

const folder = mkdtempSync(join(tmpdir(), 'wavetrain-archive-'));
const file = join(folder, 'runs.db');
const table = new Table();
try {
  await measure();
  await measureLarge();
} finally {
  rmSync(folder, { recursive: true });
}
table.print();
process.exit(table.missed > 0 ? 1 : 0);

async function measure(): Promise<void> {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const pipeline = createPipeline({
    id: 'pipeline-0',
    goal: 'Send the invoices of customer 1',
    inputs: Object.fromEntries(ids.map((id) => [id, ''])),
    tasks: ids.map((id, index) => ({
      id,
      tool: 'noop',
      inputs: { value: `{{pipeline.inputs.${id}}}` },
      ...(index > 0 && { await: [ids[index - 1]] }),
    })),
  });
  const texts = [150, 1200, 600, 300, 900].map((length, index) => writeProse(length, index + 1));
  const inputs = Object.fromEntries(ids.map((id, index) => [id, texts[index] ?? '']));
  const first = await openRegistry(file);
  const runId = await first.submit({ pipeline, inputs });
  await first.settled(runId);
  await first.close(0);
  const filled = performance.now();
  fill(file, count);
  // Otherwise the commits that are measured wait for the disk to take the whole file.
  fsyncSync(openSync(file, 'r'));
  const fillSeconds = ((performance.now() - filled) / 1000).toFixed(0);
  add(
    'bytes of the file for a settled run of five tasks',
    statSync(file).size / count,
    3072,
    'B',
    `filled in ${fillSeconds} s`,
  );

  const heapBefore = await heapInUse();
  const residentBefore = process.memoryUsage.rss();
  const startedAt = performance.now();
  const registry = await openRegistry(file);
  add('ready after a start', performance.now() - startedAt, 1000, 'ms', `${count} settled runs`);

  await measurePages(registry);
  await measureStatistics(registry);
  await measureRuns(registry);
  const heap = ((await heapInUse()) - heapBefore) / 2 ** 20;
  const resident = (process.memoryUsage.rss() - residentBefore) / 2 ** 20;
  add('memory beyond that of an empty process', resident, 150, 'MiB', `heap ${heap.toFixed(1)} MiB`);
  const beside = await measureBesideRuns(registry, pipeline, inputs, count);
  const rate = `${beside.runsPerSecond.toFixed(0)} runs a second`;
  add(
    'commits beside pages',
    p95(beside.commits),
    15,
    'ms',
    `${rate}; median ${median(beside.commits).toFixed(1)}`,
  );
  add(
    'page of 50 beside 500 runs a second',
    p95(beside.pages),
    10,
    'ms',
    `median ${median(beside.pages).toFixed(1)}`,
  );
  await registry.close(0);
}

async function measurePages(registry: RunRegistry): Promise<void> {
  const queries: Readonly<Record<string, Partial<RunQuery>>> = {
    'newest, large tenant': { tenants: ['tenant-0'] },
    'newest, small tenant': { tenants: ['tenant-3'] },
    'newest, all tenants': {},
    'failed, large tenant': { tenants: ['tenant-0'], status: 'failed' },
    'one pipeline': { tenants: ['tenant-0'], pipeline_id: 'pipeline-2' },
    'one pipeline that never ran': { tenants: ['tenant-0'], pipeline_id: 'nothing' },
    'failed runs of one pipeline': { tenants: ['tenant-0'], pipeline_id: 'pipeline-2', status: 'failed' },
    'started by one key': { tenants: ['tenant-0'], startedBy: { kind: 'key', name: 'ci-12' } },
    'nine tenants, cancelled': {
      tenants: Array.from({ length: 9 }, (_, index) => `tenant-${index}`),
      status: 'cancelled',
    },
    'a day': {
      tenants: ['tenant-0'],
      createdAfterMs: Date.now() - 20 * 86_400_000,
      createdBeforeMs: Date.now() - 19 * 86_400_000,
    },
  };
  for (const [name, query] of Object.entries(queries)) {
    const times = await sample(ROUNDS, async (round) => {
      const depth = Math.max(2, Math.floor(count - (round * count) / ROUNDS));
      await registry.queries.listInTurns(
        { limit: 50, ...query, cursor: `r${depth.toString(36)}` },
        'tenant-0',
      );
    });
    add(`page of 50 at any depth: ${name}`, p95(times), 10, 'ms', `median ${median(times).toFixed(1)}`);
  }
  const counts = await sample(TEXT_ROUNDS, async () => {
    await registry.queries.listInTurns(
      { limit: 1, counts: true, tenants: ['tenant-0'], pipeline_id: 'pipeline-2' },
      'tenant-0',
    );
  });
  add('counts of a pipeline', p95(counts), 100, 'ms', `median ${median(counts).toFixed(1)}`);
  for (const [name, text] of [
    ['customer of one of 10,000 names', customerOf(count - 5)],
    ['nothing found', 'nowhere to be found'],
  ] as const) {
    const times = await sample(TEXT_ROUNDS, async () => {
      await registry.queries.listInTurns({ limit: 50, tenants: ['tenant-0'], text }, 'tenant-0');
    });
    add(`page of 50 by text: ${name}`, p95(times), 150, 'ms', `median ${median(times).toFixed(1)}`);
  }
  const last = await sample(TEXT_ROUNDS, async () => {
    const definitions = Array.from({ length: PIPELINES }, (_, n) => ({
      tenantId: 'tenant-0',
      id: `pipeline-${n}`,
    }));
    await registry.queries.lastRuns(definitions, 5, 'tenant-0');
  });
  add('last runs of 20 pipelines', p95(last), 20, 'ms', `median ${median(last).toFixed(1)}`);
}

/** Reads all pages of the last 30 days, and measures each. */
async function measureStatistics(registry: RunRegistry): Promise<void> {
  const tenants = ['tenant-0'];
  const requests: Readonly<Record<string, Pick<StatisticsRequest, 'by' | 'tenants'>>> = {
    'large tenant by hour': { by: 'hour', tenants },
    'large tenant by day': { by: 'day', tenants },
    'all tenants by day': { by: 'day', tenants: undefined },
    'all tenants in total': { by: 'total', tenants: undefined },
  };
  for (const [name, request] of Object.entries(requests)) {
    const pages: number[] = [];
    let rows = 0;
    const readAll = async (): Promise<void> => {
      rows = 0;
      const whole = { ...request, fromMs: Date.now() - 30 * 86_400_000, limit: 5000 };
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const startedAt = performance.now();
        const page = await registry.queries.statistics({ ...whole, cursor }, 'tenant-0');
        pages.push(performance.now() - startedAt);
        rows += page.rows.length;
        cursor = page.next_cursor;
      }
    };
    await sample(TEXT_ROUNDS, readAll);
    pages.length = 0;
    const all = await sample(STATISTICS_ROUNDS, readAll);
    const detail = `all ${rows} rows: median ${median(all).toFixed(1)}, p95 ${p95(all).toFixed(1)}`;
    const pageTime = p95(pages.sort((one, other) => one - other));
    add(`page of statistics of 30 days (kept per hour): ${name}`, pageTime, 60, 'ms', detail);
  }
}

async function measureRuns(registry: RunRegistry): Promise<void> {
  const page = await registry.queries.listInTurns({ limit: 500, tenants: ['tenant-0'] }, 'tenant-0');
  const ids = page.runs.map(({ run_id }) => run_id);
  await measureOpening(registry, ids, 'open a settled run of five tasks: record and tasks', 5);
}

async function measureOpening(
  registry: RunRegistry,
  ids: readonly string[],
  measured: string,
  limit: number,
): Promise<void> {
  const look = async (id: string): Promise<void> => {
    const close = await registry.queries.open(id, null);
    registry.record(id);
    await registry.queries.tasks(id, { limit: 50 });
    close();
  };
  for (const id of ids.slice(0, WARM_UP)) await look(id);
  const others = ids.slice(WARM_UP);
  const times = await sample(others.length, (round) => look(others[round] ?? ''));
  add(measured, p95(times), limit, 'ms', `median ${median(times).toFixed(1)}`);
}

/** Looks at settled runs that are not in memory: each once, but for pages of items, which leave nothing there. */
async function measureLarge(): Promise<void> {
  const large = join(folder, 'large.db');
  const first = await openRegistry(large);
  const tasks = Array.from({ length: 100 }, (_, index) => ({
    id: `t${index}`,
    tool: 'noop',
    inputs: { value: writeProse(150, index + 1) },
    ...(index > 0 && { await: [`t${index - 1}`] }),
  }));
  const chain = createPipeline({ id: 'chain', goal: 'Do a hundred things', tasks });
  const opened = await repeat(RUNS_OF_100_TASKS, () => first.submit({ pipeline: chain }));
  const each = createPipeline({
    id: 'each',
    goal: 'Do a thing with each item',
    inputs: { list: [] },
    tasks: [
      {
        id: 'each',
        tool: 'noop',
        parallel_over: '{{pipeline.inputs.list}}',
        inputs: { value: { of: '{{item}}', text: writeProse(300, 1) } },
      },
    ],
  });
  const list = Array.from({ length: ITEMS }, (_, item) => item);
  const paged = await repeat(RUNS_OF_ITEMS, () => first.submit({ pipeline: each, inputs: { list } }));
  for (const id of [...opened, ...paged]) await first.settled(id);
  await first.close(0);
  // The end of a process has no time for all of them.
  while (hasUnpacked(large)) await (await openRegistry(large)).close(0);

  const registry = await openRegistry(large);
  await measureOpening(registry, opened, 'open a settled run of 100 tasks: record and tasks', 10);
  const look = async (round: number): Promise<void> => {
    await registry.queries.readItems(paged[round % RUNS_OF_ITEMS] ?? '', 'each', { limit: 50 }, null);
  };
  await sample(PAGES, look);
  const times = await sample(PAGES, look);
  const detail = `median ${median(times).toFixed(1)}`;
  add(`first page of ${ITEMS.toLocaleString('en')} items`, p95(times), 10, 'ms', detail);
  await registry.close(0);
}

async function repeat(times: number, submit: () => Promise<string>): Promise<string[]> {
  const ids: string[] = [];
  for (let time = 0; time < times; time++) ids.push(await submit());
  return ids;
}

async function sample(rounds: number, work: (round: number) => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await work(round);
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b);
}

function p95(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length * 0.95)] ?? 0;
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function add(measure: string, value: number, limit: number, unit: string, detail: string): void {
  const digits = value < 10 ? 1 : 0;
  table.add({
    measure,
    result: `${value.toFixed(digits)} ${unit}`,
    limit: `<= ${limit} ${unit}`,
    detail,
    ok: value <= limit,
  });
}

/** A text of words of which few are frequent, as in English. */
function writeProse(length: number, seed: number): string {
  let state = seed;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const syllables = [
    'in',
    'voi',
    'ce',
    'pa',
    'yed',
    'cus',
    'to',
    'mer',
    'or',
    'der',
    'shi',
    'ped',
    'on',
    'ti',
    'me',
    're',
  ];
  const pick = (): string => syllables[Math.floor(random() * syllables.length)] ?? '';
  const words = Array.from({ length: 600 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, pick).join(''),
  );
  let text = '';
  while (text.length < length) text += `${words[Math.floor(random() ** 3 * words.length)]} `;
  return text.slice(0, length);
}
