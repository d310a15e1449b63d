import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AllowedCommands } from '../../../lib/common/config/allowed-commands.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { commandAccess } from '../../../lib/tools/commands/command-access.js';
import { compare, longestGap, timed } from '../../measure.js';

/** `npm run bench:commands`: measures the tool `command`, as ratios to a floor in the same process. */

const AT_ONCE = 100;
const GIBIBYTE = 2 ** 30;

const commands = commandAccess({ allowed: AllowedCommands.all, folder: process.cwd() });

/** Runs a pipeline of one task, and lets a listener take the messages that it logs. */
async function runTask(task: string): Promise<number> {
  const executor = new LocalExecutor({ commands });
  const run = executor.createRun({
    pipeline: parsePipeline(`{id: p, goal: g, inputs: {n: ${NUMBERS}}, tasks: [${task}]}`),
  });
  let logged = 0;
  run.journal.subscribe((event) => {
    if (event.kind === 'log') logged++;
  });
  void run.begin();
  await run.settled;
  if (run.status !== 'succeeded') throw new Error(`the run has ${run.status}`);
  await executor.close();
  return logged;
}

const NUMBERS = JSON.stringify(Array.from({ length: AT_ONCE }, (_, n) => n));

const TRUE =
  '{id: t, tool: command, parallel_over: "{{pipeline.inputs.n}}", inputs: {run: ["true", "{{item}}"]}}';

async function spawnAll(): Promise<void> {
  const children = Array.from({ length: AT_ONCE }, () =>
    spawn('true', [], { stdio: 'pipe', detached: true, env: { PATH: process.env['PATH'] } }),
  );
  await Promise.all(
    children.map((child) => {
      child.stdout.resume();
      child.stderr.resume();
      child.stdin.end();
      return once(child, 'close');
    }),
  );
}

const { floor, ours } = await compare(
  { floor: spawnAll, ours: () => runTask(TRUE) },
  { rounds: 15, warmup: 3 },
);

const LOUD = `{id: t, tool: command, inputs: {script: "head -c ${GIBIBYTE} /dev/zero | tr '\\\\0' 'x' | fold -w 120 >&2", shell: sh}}`;

let peak = 0;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 5);
await runTask(LOUD.replace(String(GIBIBYTE), String(2 ** 20)));
globalThis.gc?.();
const before = process.memoryUsage().rss;
peak = before;
let ms = 0;
const gap = await longestGap(async () => {
  ms = await timed(() => runTask(LOUD));
});
clearInterval(watch);

console.table({
  'command of `true`, 100 at once, against child_process.spawn of the same': {
    measured: `${(ours / floor).toFixed(2)}x`,
    must: '1.5x',
    note: `${(ours / AT_ONCE).toFixed(2)} ms each, floor ${(floor / AT_ONCE).toFixed(2)} ms`,
  },
  'output of 1 GiB to the log: memory': {
    measured: `${((peak - before) / 2 ** 20).toFixed(0)} MiB`,
    must: '60 MiB',
    note: `${(ms / 1000).toFixed(1)} s`,
  },
  'output of 1 GiB to the log: longest gap of the event loop': {
    measured: `${gap.toFixed(1)} ms`,
    must: '20 ms',
    note: '',
  },
});
await commands.close();
