import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import type { RunRegistry } from '../../lib/runs/registry.js';
import { compare, longestGap, median, timed } from '../measure.js';
import { chain, fanOut, waves } from '../shapes.js';
import { BareCommits } from './bare-commits.js';
import {
  countCommits,
  createMemoryRegistry,
  createPipeline,
  gate,
  openRegistry,
  run,
  StoreFile,
} from './registries.js';

/**
 * `npm run bench:durable`: what it costs to keep runs in a file, as ratios to what a bare commit costs, or to the same runs
 * in memory, in the same process. The exit status is 1 when a limit is missed.
 */
const rows: [string, string, string, string][] = [];
let isMissed = false;

const hundred = chain(100);
const wave = waves(1, 1000);
const items = fanOut(10_000);

const chosen = process.argv[2] ?? '';
const parts: Readonly<Record<string, () => Promise<void>>> = {
  commits: measureCommits,
  times: measureTimes,
  gaps: measureGaps,
  bytes: measureBytes,
  'going-on': measureGoingOn,
  million: measureMillion,
};
for (const [name, measure] of Object.entries(parts)) if (name.startsWith(chosen)) await measure();
print();
process.exitCode = isMissed ? 1 : 0;

async function measureCommits(): Promise<void> {
  await withStore(async (registry) => {
    for (const [name, pipeline, most] of [
      ['chain of 100 tasks', hundred, 102],
      ['one wave of 1,000', wave, 12],
      ['fan-out of 10,000 items', items, 30],
    ] as const) {
      const counts: number[] = [];
      for (let round = 0; round < 5; round++) {
        counts.push(await countCommits(() => run(registry, pipeline)));
      }
      row(`commits of a ${name}`, median(counts), most, '', `5 runs: ${counts.join(', ')}`);
    }
  });
}

async function measureTimes(): Promise<void> {
  const file = new StoreFile();
  const bare = new BareCommits(`${file.path}.bare`);
  const kept = await openRegistry(file.path);
  const memory = createMemoryRegistry();
  const chained = await compare(
    {
      commits: async () => {
        for (let time = 0; time < 100; time++) await bare.commit();
      },
      kept: () => run(kept, hundred),
      memory: () => run(memory, hundred),
    },
    { rounds: 21, warmup: 5 },
  );
  row(
    'chain of 100 tasks: a wave against one bare commit',
    chained.kept / chained.commits,
    2,
    'x',
    `${(chained.kept / 100).toFixed(2)} ms a wave, a commit ${(chained.commits / 100).toFixed(2)} ms, in memory ${(chained.memory / 100).toFixed(3)} ms`,
  );
  const compareWithMemory = async (name: string, pipeline: Pipeline, most: number): Promise<void> => {
    const took = await compare(
      { kept: () => run(kept, pipeline), memory: () => run(memory, pipeline) },
      { rounds: 15, warmup: 5 },
    );
    row(
      `${name} against memory`,
      took.kept / took.memory,
      most,
      'x',
      `${took.kept.toFixed(0)} ms, in memory ${took.memory.toFixed(0)} ms`,
    );
  };
  await compareWithMemory('one wave of 1,000', wave, 4);
  await compareWithMemory('fan-out of 10,000 items', items, 5);
  await Promise.all([kept.close(0), bare.close()]);
  file.remove();
}

async function measureGaps(): Promise<void> {
  await withStore(async (registry) => {
    await run(registry, items);
    const gaps: number[] = [];
    for (let round = 0; round < 5; round++) gaps.push(await longestGap(() => run(registry, items)));
    rowOfGaps('fan-out of 10,000 items', gaps);
  });
  await withStore(async (registry) => {
    const memory = createMemoryRegistry();
    const many = (): Promise<void> => runTogether(registry, hundred, 300);
    const inMemory = (): Promise<void> => runTogether(memory, hundred, 300);
    await many();
    await inMemory();
    const gaps: number[] = [];
    const times: number[] = [];
    for (let round = 0; round < 3; round++) {
      gaps.push(await longestGap(async () => void times.push(await timed(many))));
    }
    const least = await longestGap(inMemory);
    rowOfGaps(
      '300 runs of 100 tasks at once',
      gaps,
      `${(30_000 / median(times)).toFixed(1)} tasks a ms; in memory ${least.toFixed(0)} ms`,
    );
  });
}

/** Submits each run in a turn of the event loop of its own, as requests come. */
async function runTogether(registry: RunRegistry, pipeline: Pipeline, count: number): Promise<void> {
  const runs: Promise<void>[] = [];
  for (let time = 0; time < count; time++) {
    runs.push(run(registry, pipeline));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  await Promise.all(runs);
}

async function measureBytes(): Promise<void> {
  const list = Array.from({ length: 10_000 }, (_, n) => n);
  const pipeline = createPipeline({
    id: 'bytes',
    goal: 'take little room',
    inputs: { list },
    tasks: [
      { id: 'each', tool: 'nothing', parallel_over: '{{pipeline.inputs.list}}', inputs: { n: '{{item}}' } },
    ],
  });
  const file = new StoreFile();
  const registry = await openRegistry(file.path);
  await run(registry, pipeline, true);
  await registry.close(0);
  row('bytes on disk for an item without output', file.bytes / list.length, 500, '', '');
  file.remove();
}

/** A fan-out of a million items: the memory is that of the process beyond what it has before. */
async function measureMillion(): Promise<void> {
  const file = new StoreFile();
  const registry = await openRegistry(file.path);
  const before = process.memoryUsage.rss();
  let highest = before;
  const sampling = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 20);
  const pipeline = fanOut(1_000_000);
  let status = '';
  const took = await timed(async () => {
    const runId = await registry.submit({ pipeline });
    status = (await registry.settled(runId)).status;
    await registry.close(0);
  });
  clearInterval(sampling);
  const mebibyte = 2 ** 20;
  const ended = `${status} after ${(took / 1000).toFixed(0)} s`;
  row('fan-out of 1,000,000 items: memory', (highest - before) / mebibyte, 1536, ' MiB', ended);
  row('fan-out of 1,000,000 items: file', file.bytes / mebibyte, 600, ' MiB', '');
  file.remove();
}

async function measureGoingOn(): Promise<void> {
  await measureManyItems();
  await measureManyRuns();
}

/** A run that has settled 100,000 items, and was at work after them when its process ended. */
async function measureManyItems(): Promise<void> {
  const pipeline = createPipeline({
    id: 'items',
    goal: 'go on',
    tasks: [
      { id: 'list', tool: 'noop', inputs: { items: Array.from({ length: 100_000 }, (_, n) => n) } },
      {
        id: 'each',
        tool: 'noop',
        parallel_over: '{{list.output.items}}',
        inputs: { n: '{{item}}', text: 'item {{item}}' },
      },
      { id: 'end', tool: 'gate', await: ['each'] },
    ],
  });
  const times: number[] = [];
  const processor: number[] = [];
  const gaps: number[] = [];
  for (let round = 0; round < 3; round++) {
    const file = new StoreFile();
    gate.close();
    const reached = gate.calls(1);
    const first = await openRegistry(file.path);
    await first.submit({ pipeline });
    await reached;
    const copy = file.copyAfterCrash();
    await first.close(0);
    let second: RunRegistry | undefined;
    const goOn = async (): Promise<void> => {
      const before = process.cpuUsage();
      const again = gate.calls(1);
      second = await openRegistry(copy);
      await again;
      const { user, system } = process.cpuUsage(before);
      processor.push((user + system) / 1000);
    };
    gaps.push(await longestGap(async () => void times.push(await timed(goOn))));
    await second?.close(0);
    file.remove();
  }
  row(
    'going on with 100,000 settled items',
    median(times),
    1500,
    ' ms',
    `${spread(times)}; all threads ${median(processor).toFixed(0)} ms CPU`,
  );
  rowOfGaps('going on with 100,000 settled items', gaps);
}

/** Runs of ten tasks, which were at work in the sixth when their process ended. */
async function measureManyRuns(): Promise<void> {
  const RUNS = 1000;
  const pipeline = createPipeline({
    id: 'many',
    goal: 'go on',
    tasks: Array.from({ length: 10 }, (_, n) => ({
      id: `t${n}`,
      tool: n === 5 ? 'gate' : 'noop',
      ...(n > 0 && { await: [`t${n - 1}`] }),
    })),
  });
  const firsts: number[] = [];
  const alls: number[] = [];
  const gaps: number[] = [];
  for (let round = 0; round < 3; round++) {
    const file = new StoreFile();
    gate.close();
    const before = gate.calls(RUNS);
    const first = await openRegistry(file.path);
    for (let time = 0; time < RUNS; time++) void first.submit({ pipeline });
    await before;
    const copy = file.copyAfterCrash();
    await first.close(0);
    gate.open();
    gaps.push(
      await longestGap(async () => {
        const start = performance.now();
        const called = gate.calls(1).then(() => performance.now() - start);
        const second = await openRegistry(copy);
        firsts.push(await called);
        const { runs } = second.list({ limit: RUNS });
        await Promise.all(runs.map(({ run_id: id }) => second.settled(id)));
        alls.push(performance.now() - start);
        await second.close(0);
      }),
    );
    file.remove();
  }
  row('1,000 unsettled runs: the first goes on', median(firsts), 500, ' ms', spread(firsts));
  row('1,000 unsettled runs: all have finished', median(alls), 5000, ' ms', spread(alls));
  rowOfGaps('1,000 unsettled runs go on', gaps);
}

async function withStore(measure: (registry: RunRegistry) => Promise<void>): Promise<void> {
  const file = new StoreFile();
  const registry = await openRegistry(file.path);
  await measure(registry);
  await registry.close(0);
  file.remove();
}

function spread(times: readonly number[]): string {
  return `${times.length} times: ${times.map((ms) => ms.toFixed(0)).join(', ')}`;
}

function rowOfGaps(name: string, gaps: readonly number[], detail = ''): void {
  row(
    `longest event-loop gap: ${name}`,
    median(gaps),
    50,
    ' ms',
    [spread(gaps), detail].filter(Boolean).join('; '),
  );
}

function row(name: string, result: number, most: number, unit: string, detail: string): void {
  const isWithin = result <= most;
  isMissed ||= !isWithin;
  const digits = unit === 'x' ? 1 : 0;
  rows.push([name, `${result.toFixed(digits)}${unit}`, `${most.toLocaleString('en')}${unit}`, detail]);
  process.stderr.write(`${isWithin ? 'ok    ' : 'MISSED'} ${rows.at(-1)?.join(' | ')}\n`);
}

function print(): void {
  const machine = `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}`;
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`);
  process.stdout.write(
    `${machine}\n\n| measure | result | at most | detail |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`,
  );
}
