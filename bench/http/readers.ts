import { connect, type Socket } from 'node:net';
import { median } from '../measure.js';
import { Child } from './child.js';
import { waitUntilIdle } from './concurrent-runs.js';
import { layered, sleepTask } from './pipelines.js';
import { closeConnections, postJson } from './post.js';
import type { Table } from './table.js';

const RUNS = 50;
const READERS = 1000;
const ROUNDS = 5;
/** The duration of the first task, in which the readers connect; not measured. */
const GATE_MS = 2000;
const LIMIT = 1.2;

interface Round {
  readonly runMs: number;
  readonly events: number;
}

/** Measures how much 1,000 readers of event streams slow down 50 running runs. */
export async function measureReaders(table: Table): Promise<void> {
  const server = await Child.open('server');
  const alone: Round[] = [];
  const read: Round[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const both = { alone: await measureRound(server, 0), read: await measureRound(server, READERS) };
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

async function measureRound(server: Child, readers: number): Promise<Round> {
  const submissions = Array.from({ length: RUNS }, () =>
    postJson<{ run_id: string }>(server.url, '/pipelines/run_async', gatedPipeline()),
  );
  const ids = (await Promise.all(submissions)).map(({ run_id }) => run_id);
  const reading = Array.from({ length: readers }, (_, position) =>
    Reader.open(server.url, ids[position % RUNS] ?? ''),
  );
  const seen = await Promise.all(reading.map(async (reader) => (await reader).ended));
  await waitUntilIdle(server);
  const durations = await server.request<number[]>('durations');
  const kept = await server.request<number[]>('events');
  await server.request('forget');
  closeConnections();
  const wanted = Math.max(...kept);
  if (seen.some((last) => last !== wanted)) throw new Error(`a reader did not see all ${wanted} events`);
  return { runMs: median(durations) - GATE_MS, events: readers * wanted };
}

/** Creates 20 waves of 5 tasks after the gate. */
function gatedPipeline() {
  const { pipeline } = layered(20, 5, sleepTask(0.05));
  const tasks = pipeline.tasks.map((task, position) => (position < 5 ? { ...task, await: ['gate'] } : task));
  return { pipeline: { ...pipeline, tasks: [{ id: 'gate', ...sleepTask(GATE_MS / 1000) }, ...tasks] } };
}

/** Characters kept of a stream: more than its last event has. */
const TAIL = 2000;

/** Reads an event stream and parses only its end, so that a thousand readers fit into one process. */
export class Reader {
  /** Resolves with the id of the last event when the server has ended the stream. */
  readonly ended: Promise<number>;

  private constructor(socket: Socket) {
    let tail = '';
    socket.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString('latin1')).slice(-TAIL);
    });
    this.ended = new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('close', () => resolve(lastEventId(tail)));
    });
  }

  /** Resolves when the response has begun. */
  static async open(url: string, runId: string): Promise<Reader> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    const reader = new Reader(socket);
    socket.write(
      `GET /pipelines/runs/${runId}/events HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n`,
    );
    await new Promise((resolve) => {
      socket.once('data', resolve);
    });
    return reader;
  }
}

function lastEventId(text: string): number {
  return Number([...text.matchAll(/^id: ?(\d+)/gm)].at(-1)?.[1] ?? 0);
}
