import { performance } from 'node:perf_hooks';
import { median } from '../measure.js';
import { Child } from './child.js';
import { layered, MOCK, sleeping } from './pipelines.js';
import { closeConnections, postJson } from './post.js';
import type { Table } from './table.js';

const RUNS = 1000;
const ROUNDS = 3;
const CALM_MS = 100;

interface Round {
  readonly submittedMs: number;
  readonly finishedMs: number;
  readonly gapMs: number;
  readonly healthMs: number;
  readonly succeeded: number;
  readonly keptBytes: number;
}

/** 1,000 runs of 100 tasks at once: they finish, leave nothing behind, and the server stays reachable meanwhile. */
export async function measureCrowd(table: Table): Promise<void> {
  await measureKind(table, 'mock', layered(10, 10, MOCK));
  await measureKind(table, 'sleep 0.01', layered(10, 10, sleeping(0.01)));
}

async function measureKind(table: Table, tool: string, body: unknown): Promise<void> {
  const server = await Child.open('server');
  const probe = await Child.open('probe', [server.url]);
  await crowd(server, probe, body);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await crowd(server, probe, body));
  await probe.close();
  await server.close();

  const name = `1,000 runs of 100 tasks (${tool})`;
  const middle = (of: (round: Round) => number): number => median(rounds.map(of));
  const worst = (of: (round: Round) => number): string =>
    `worst of ${ROUNDS}: ${Math.max(...rounds.map(of)).toFixed(0)} ms`;
  const succeeded = Math.min(...rounds.map((round) => round.succeeded));
  table.add({
    measure: `${name}: all finish`,
    result: `${succeeded}`,
    limit: `${RUNS}`,
    ok: succeeded === RUNS,
    detail: `accepted after ${middle((round) => round.submittedMs).toFixed(0)} ms, finished after ${middle((round) => round.finishedMs).toFixed(0)} ms`,
  });
  const gapMs = middle((round) => round.gapMs);
  table.add({
    measure: `${name}: longest event-loop gap`,
    result: `${gapMs.toFixed(0)} ms`,
    limit: `< ${CALM_MS} ms`,
    ok: gapMs < CALM_MS,
    detail: worst((round) => round.gapMs),
  });
  const healthMs = middle((round) => round.healthMs);
  table.add({
    measure: `${name}: slowest answer of /health`,
    result: `${healthMs.toFixed(0)} ms`,
    limit: `< ${CALM_MS} ms`,
    ok: healthMs < CALM_MS,
    detail: worst((round) => round.healthMs),
  });
  const keptMb = middle((round) => round.keptBytes) / 2 ** 20;
  table.add({
    measure: `${name}: heap kept after they were forgotten`,
    result: `${keptMb.toFixed(1)} MiB`,
    limit: '<= 3 MiB',
    ok: keptMb <= 3,
    detail: rounds.map(({ keptBytes }) => (keptBytes / 2 ** 20).toFixed(1)).join(', '),
  });
}

async function crowd(server: Child, probe: Child, body: unknown): Promise<Round> {
  const before = await server.ask<number>('heap');
  await probe.ask('times');
  await server.ask('watchGaps');
  const began = performance.now();
  const submissions = Array.from({ length: RUNS }, () => postJson(server.url, '/pipelines/run_async', body));
  await Promise.all(submissions);
  const submittedMs = performance.now() - began;
  await idle(server);
  const finishedMs = performance.now() - began;
  const gapMs = await server.ask<number>('longestGap');
  const times = await probe.ask<number[]>('times');
  const { succeeded = 0 } = await server.ask<{ succeeded?: number }>('statuses');
  await server.ask('forget');
  closeConnections();
  const keptBytes = (await server.ask<number>('heap')) - before;
  return { submittedMs, finishedMs, gapMs, healthMs: Math.max(...times), succeeded, keptBytes };
}

/** Until no run waits or is at work. */
export async function idle(server: Child): Promise<void> {
  for (;;) {
    const { queued, running } = await server.ask<{ queued: number; running: number }>('load');
    if (queued + running === 0) return;
    await new Promise((next) => {
      setTimeout(next, 10);
    });
  }
}
