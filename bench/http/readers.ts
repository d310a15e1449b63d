import { median } from '../measure.js';
import { Child } from './child.js';
import { idle } from './crowd.js';
import { layered, sleeping } from './pipelines.js';
import { closeConnections, postJson } from './post.js';
import { Reader } from './reader.js';
import type { Table } from './table.js';

const RUNS = 50;
const READERS = 1000;
const ROUNDS = 5;
/** The first task gives the readers this time to connect; it does not count. */
const GATE_MS = 2000;
const LIMIT = 1.2;

interface Round {
  readonly runMs: number;
  readonly events: number;
}

/** 1,000 readers of the events of 50 runs at work: how much longer do the runs take than with nobody reading? */
export async function measureReaders(table: Table): Promise<void> {
  const server = await Child.open('server');
  const alone: Round[] = [];
  const read: Round[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const both = { alone: await runs(server, 0), read: await runs(server, READERS) };
    if (round < 0) continue;
    alone.push(both.alone);
    read.push(both.read);
  }
  await server.close();
  const [aloneMs, readMs] = [median(alone.map(({ runMs }) => runMs)), median(read.map(({ runMs }) => runMs))];
  const ratio = median(read.map(({ runMs }, round) => runMs / (alone[round]?.runMs ?? Number.NaN)));
  const events = median(read.map((round) => round.events));
  table.add({
    measure: '1,000 readers of 50 running runs of 100 tasks (sleep 0.05): time of a run against no reader',
    result: `${ratio.toFixed(2)}x`,
    limit: `<= ${LIMIT}x`,
    ok: ratio <= LIMIT,
    detail: `${readMs.toFixed(0)} ms, without readers ${aloneMs.toFixed(0)} ms; ${events} events read, none missing`,
  });
}

async function runs(server: Child, readers: number): Promise<Round> {
  const submissions = Array.from({ length: RUNS }, () =>
    postJson<{ run_id: string }>(server.url, '/pipelines/run_async', gated()),
  );
  const ids = (await Promise.all(submissions)).map(({ run_id }) => run_id);
  const reading = Array.from({ length: readers }, (_, position) =>
    Reader.open(server.url, ids[position % RUNS] ?? ''),
  );
  const seen = await Promise.all(reading.map(async (reader) => (await reader).ended));
  await idle(server);
  const durations = await server.ask<number[]>('durations');
  const kept = await server.ask<number[]>('events');
  await server.ask('forget');
  closeConnections();
  const wanted = Math.max(...kept);
  if (seen.some((last) => last !== wanted)) throw new Error(`a reader did not see all ${wanted} events`);
  return { runMs: median(durations) - GATE_MS, events: readers * wanted };
}

/** 20 waves of 5, behind the gate. */
function gated() {
  const { pipeline } = layered(20, 5, sleeping(0.05));
  const tasks = pipeline.tasks.map((task, position) => (position < 5 ? { ...task, await: ['gate'] } : task));
  return { pipeline: { ...pipeline, tasks: [{ id: 'gate', ...sleeping(GATE_MS / 1000) }, ...tasks] } };
}
