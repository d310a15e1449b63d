import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { inspectionTimes } from './runs/inspection.js';
import { pdfTimes, searchTimes } from './tools/documents.js';
import { measureToolRequests, runWithLimit } from './runs/fan-out-limit.js';
import { runFloor } from './runs/floor.js';
import { measureModels } from './tools/models.js';
import { compare, heapInUse, longestGap, median, timed } from './measure.js';
import { runWavetrain } from './runs/wavetrain.js';
import { planChain, planCheckTime, planTimes } from './definitions/plans.js';
import { chain, fanOut, waves } from './shapes.js';
import { compareStart } from './start.js';
import { validationTime } from './definitions/validation.js';

/** XState's actor takes three times as long on Node.js 20 as on later versions. */
const IS_NODE_20 = process.versions.node.startsWith('20.');

/** `npm run bench`: measures our claims about speed, as ratios to a floor in the same process. */
const rows: [string, string, string, string][] = [];

for (const [name, pipeline, must] of [
  ['chain of 100 tasks', chain(100), IS_NODE_20 ? 9 : 5],
  ['one wave of 1,000', waves(1, 1000), IS_NODE_20 ? 7.5 : 6],
  ['20 waves of 50', waves(20, 50), IS_NODE_20 ? 4.5 : 4],
] as const) {
  const { floor, ours } = await compare(
    { floor: () => runFloor(pipeline), ours: () => runWavetrain(pipeline) },
    { rounds: 301, warmup: 60 },
  );
  const each = (ms: number): string => `${((ms * 1000) / pipeline.tasks.size).toFixed(2)} µs`;
  row(name, `${(ours / floor).toFixed(1)}x`, `${must}x`, `${each(ours)} a task, floor ${each(floor)}`);
}

const hundred = chain(100);
for (let time = 0; time < 1000; time++) await runWavetrain(hundred);
await heapInUse();
for (let time = 0; time < 1000; time++) await runWavetrain(hundred);
const before = await heapInUse();
for (let time = 0; time < 1000; time++) await runWavetrain(hundred);
const kept = ((await heapInUse()) - before) / 100_000;
row(
  'heap kept per finished task after 1,000 forgotten runs of 100 tasks',
  `${kept.toFixed(1)} bytes`,
  '0',
  '',
);

const wide = waves(1, 100_000);
const narrow = waves(1, 1000);
const wideTimes: number[] = [];
const narrowTimes: number[] = [];
for (let round = 0; round < 7; round++) {
  wideTimes.push((await timed(() => runWavetrain(wide))) / 100_000);
  for (let time = 0; time < 15; time++) narrowTimes.push((await timed(() => runWavetrain(narrow))) / 1000);
}
const [wideMs, narrowMs] = [median(wideTimes), median(narrowTimes)];
const perTask = `${(wideMs * 1000).toFixed(2)} µs against ${(narrowMs * 1000).toFixed(2)} µs`;
row(
  'wave of 100,000: time per task against a wave of 1,000',
  `${(wideMs / narrowMs).toFixed(2)}x`,
  '2x',
  perTask,
);

const items = fanOut(100_000);
const limited = { fan_out_concurrency: 64 };
const { ours, limit } = await compare(
  { ours: () => runWavetrain(items, limited), limit: () => runWithLimit(items, 100_000, 64) },
  { rounds: 9, warmup: 2 },
);
const perItem = `${(ours / 100).toFixed(2)} µs an item, p-limit ${(limit / 100).toFixed(2)} µs`;
row(
  'fan-out of 100,000 items, concurrency 64, against p-limit',
  `${(ours / limit).toFixed(2)}x`,
  '0.55x',
  perItem,
);

const called = fanOut(10_000);
const cached = fanOut(10_000, true);
const hits = await compare(
  { cached: () => runWavetrain(cached), called: () => runWavetrain(called) },
  { rounds: 9, warmup: 3 },
);
const perHit = ((hits.cached - hits.called) * 1000) / 10_000;
row(
  'output from the cache in memory: what it adds to an item, without the call',
  `${perHit.toFixed(1)} µs`,
  '100 µs',
  `${(hits.cached / 10).toFixed(2)} µs an item, ${(hits.called / 10).toFixed(2)} µs when a no-op is called`,
);

const inspected = await inspectionTimes();
row(
  'chain of 100 tasks that nobody inspects any more, against one that nobody inspected',
  `${(inspected.left / inspected.never).toFixed(2)}x`,
  '1.1x',
  `${(inspected.left * 10).toFixed(2)} µs a task, ${(inspected.never * 10).toFixed(2)} µs; ${(inspected.always * 10).toFixed(2)} µs while it is recorded`,
);
row(
  'recording a fan-out of 10,000 items: time per entry against one of 1,000',
  `${(inspected.usPerEntry / inspected.usPerEntryOfTenth).toFixed(2)}x`,
  '2x',
  `${inspected.usPerEntry.toFixed(2)} µs against ${inspected.usPerEntryOfTenth.toFixed(2)} µs`,
);

const requests = await measureToolRequests();
row(
  '1,000 requests to this machine with `http_request`, 64 in flight, against undici alone',
  `${(requests.ours / requests.undici).toFixed(2)}x`,
  '3x',
  `${requests.ours.toFixed(0)} ms, undici ${requests.undici.toFixed(0)} ms`,
);

const models = await measureModels();
row(
  '1,000 `llm_job` against a server on this machine, 64 in flight, against fetch alone',
  `${(models.ours / models.fetch).toFixed(2)}x`,
  '3x',
  `${models.ours.toFixed(0)} ms, fetch ${models.fetch.toFixed(0)} ms, the AI SDK's provider alone ${models.sdk.toFixed(0)} ms`,
);
row(
  'the first text of an answer: later than the first bytes with fetch by',
  `${(models.firstText - models.firstBytes).toFixed(2)} ms`,
  '5 ms',
  `${models.firstText.toFixed(2)} ms, fetch ${models.firstBytes.toFixed(2)} ms`,
);

const gaps: number[] = [];
for (let round = 0; round < 5; round++) {
  gaps.push(
    Math.max(
      await longestGap(() => runWavetrain(wide)),
      await longestGap(() => runWavetrain(items, limited)),
    ),
  );
}
row(
  'longest event-loop gap in either of the two',
  `${median(gaps).toFixed(0)} ms`,
  '50 ms',
  `worst of 5: ${Math.max(...gaps).toFixed(0)} ms`,
);

const SUB_PIPELINES = 500;
const planTook = await planTimes(planChain(SUB_PIPELINES));
const perSubPipeline = (ms: number): string => `${((ms * 1000) / SUB_PIPELINES).toFixed(0)} µs`;
row(
  `plan of ${SUB_PIPELINES} sub-pipelines in a chain: what the plan adds to each`,
  perSubPipeline(planTook.plan - planTook.alone),
  '200 µs',
  `${perSubPipeline(planTook.plan)} each, alone ${perSubPipeline(planTook.alone)}: ${(planTook.plan / planTook.alone).toFixed(1)}x`,
);

row(
  `checking a plan of ${SUB_PIPELINES} sub-pipelines`,
  `${planCheckTime(SUB_PIPELINES).toFixed(0)} ms`,
  '1,000 ms',
  '',
);

const start = compareStart(resolve('bin/wavetrain.js'), 21);
row(
  '`wavetrain run` of a 4-task file against `node -e 0`',
  `${(start.run / start.node).toFixed(2)}x`,
  '2x',
  `${start.run.toFixed(0)} ms against ${start.node.toFixed(0)} ms`,
);

const pdf = await pdfTimes();
row(
  'reading a PDF of 500 pages in another process against unpdf alone',
  `${(pdf.pool / pdf.library).toFixed(2)}x`,
  '1.3x',
  `${pdf.pool.toFixed(0)} ms against ${pdf.library.toFixed(0)} ms`,
);
row('longest event-loop gap meanwhile', `${pdf.gap.toFixed(0)} ms`, '50 ms', '');

const search = await searchTimes();
row(
  'BM25 over 10,000 chunks: one query after indexing',
  `${search.queryMs.toFixed(1)} ms`,
  '20 ms',
  `indexing ${search.indexMs.toFixed(0)} ms, longest event-loop gap ${search.gapMs.toFixed(0)} ms`,
);

const validation = validationTime();
row(
  'validating 10,000 tasks with 50,000 references',
  `${validation.objectMs.toFixed(0)} ms`,
  '1,000 ms',
  `as YAML text ${validation.textMs.toFixed(0)} ms; 5,000 tasks ${validation.halfMs.toFixed(0)} ms`,
);

print();

function row(name: string, result: string, must: string, detail: string): void {
  rows.push([name, result, must, detail]);
  process.stderr.write(`${name}: ${result}\n`);
}

function print(): void {
  const machine = `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}`;
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`);
  process.stdout.write(
    `${machine}\n\n| shape | measured | must reach | detail |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`,
  );
}
