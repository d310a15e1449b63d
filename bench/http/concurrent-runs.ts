import { performance } from 'node:perf_hooks';
import { median } from '../measure.js';
import { Child } from './child.js';
import { layered, MOCK, sleepTask } from './pipelines.js';
import { closeConnections, postJson } from './post.js';
import type { Table } from './table.js';

const RUNS = 1000;
const ROUNDS = 3;
const MAX_DELAY_MS = 100;

interface Round {
  readonly submittedMs: number;
  readonly finishedMs: number;
  readonly gapMs: number;
  readonly healthMs: number;
  readonly succeeded: number;
  readonly keptBytes: number;
}

/** Measures 1,000 concurrent runs of 100 tasks: all succeed, free their memory and leave the server responsive. */
export async function measureConcurrentRuns(table: Table): Promise<void> {
  await measureTool(table, 'mock', layered(10, 10, MOCK));
  await measureTool(table, 'sleep 0.01', layered(10, 10, sleepTask(0.01)));
}

async function measureTool(table: Table, tool: string, body: unknown): Promise<void> {
  const server = await Child.open('server');
  const probe = await Child.open('probe', [server.url]);
  await measureRound(server, probe, body);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRound(server, probe, body));
  await probe.close();
  await server.close();

  const name = `1,000 runs of 100 tasks (${tool})`;
  const medianOf = (of: (round: Round) => number): number => median(rounds.map(of));
  const worst = (of: (round: Round) => number): string =>
    `worst of ${ROUNDS}: ${Math.max(...rounds.map(of)).toFixed(0)} ms`;
  const succeeded = Math.min(...rounds.map((round) => round.succeeded));
  table.add({
    measure: `${name}: all finish`,
    result: `${succeeded}`,
    limit: `${RUNS}`,
    ok: succeeded === RUNS,
    detail: `accepted after ${medianOf((round) => round.submittedMs).toFixed(0)} ms, finished after ${medianOf((round) => round.finishedMs).toFixed(0)} ms`,
  });
  const gapMs = medianOf((round) => round.gapMs);
  table.add({
    measure: `${name}: longest event-loop gap`,
    result: `${gapMs.toFixed(0)} ms`,
    limit: `< ${MAX_DELAY_MS} ms`,
    ok: gapMs < MAX_DELAY_MS,
    detail: worst((round) => round.gapMs),
  });
  const healthMs = medianOf((round) => round.healthMs);
  table.add({
    measure: `${name}: slowest response of /health`,
    result: `${healthMs.toFixed(0)} ms`,
    limit: `< ${MAX_DELAY_MS} ms`,
    ok: healthMs < MAX_DELAY_MS,
    detail: worst((round) => round.healthMs),
  });
  const keptMb = medianOf((round) => round.keptBytes) / 2 ** 20;
  table.add({
    measure: `${name}: heap kept after they were forgotten`,
    result: `${keptMb.toFixed(1)} MiB`,
    limit: '<= 3 MiB',
    ok: keptMb <= 3,
    detail: rounds.map(({ keptBytes }) => (keptBytes / 2 ** 20).toFixed(1)).join(', '),
  });
}

async function measureRound(server: Child, probe: Child, body: unknown): Promise<Round> {
  const before = await server.request<number>('heap');
  await probe.request('times');
  await server.request('watchGaps');
  const began = performance.now();
  const submissions = Array.from({ length: RUNS }, () => postJson(server.url, '/pipelines/run_async', body));
  await Promise.all(submissions);
  const submittedMs = performance.now() - began;
  await waitUntilIdle(server);
  const finishedMs = performance.now() - began;
  const gapMs = await server.request<number>('longestGap');
  const times = await probe.request<number[]>('times');
  const { succeeded = 0 } = await server.request<{ succeeded?: number }>('statuses');
  await server.request('forget');
  closeConnections();
  const keptBytes = (await server.request<number>('heap')) - before;
  return { submittedMs, finishedMs, gapMs, healthMs: Math.max(...times), succeeded, keptBytes };
}

/** Resolves when no run is queued or running. */
export async function waitUntilIdle(server: Child): Promise<void> {
  for (;;) {
    const { queued, running } = await server.request<{ queued: number; running: number }>('load');
    if (queued + running === 0) return;
    await new Promise((next) => {
      setTimeout(next, 10);
    });
  }
}
