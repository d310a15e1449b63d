import { setPriority } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { Api, type Reply, sleep } from '../api.js';

/** The response times of one kind of request, in milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface HonestResult {
  readonly latencies: Readonly<Record<string, Latency>>;
  /** The mistakes in responses, and the responses that are missing. */
  readonly lost: readonly string[];
}

/** A tenant that works: `honest.mjs URL KEY SECONDS`. Sends a request at a time, checks each, and prints a HonestResult. */
const [url = '', key = '', seconds = '0'] = process.argv.slice(2);
const api = new Api(url, key, 60_000);
const times: Record<string, number[]> = {};
const lost: string[] = [];
const endAt = Date.now() + Number(seconds) * 1000;

/** Between two requests, so that the tenant is a light one. */
const PAUSE_MS = 20;

const TWO_TASKS = {
  pipeline: {
    id: 'honest',
    goal: 'g',
    tasks: [
      { id: 'a', tool: 'store', inputs: { key: 'k', value: [1, 2, 4] } },
      { id: 'b', tool: 'mock', inputs: { v: '{{a.output.1}}' } },
    ],
  },
};
const SUM = {
  pipeline: {
    id: 'sum',
    goal: 'g',
    tasks: [{ id: 'a', tool: 'transform', inputs: { input: [1, 2, 4], expression: '$sum($)' } }],
  },
};
const YAML = 'pipeline:\n  id: y\n  goal: g\n  tasks:\n    - id: a\n      tool: mock\n';

/** Differs from the keys of an earlier program, whose runs may be kept no longer. */
const KEY_PREFIX = `payment-${Date.now()}`;
let payments = 0;

const REQUESTS: Readonly<Record<string, () => Promise<Reply>>> = {
  'run of two tasks': () =>
    check(api.send('POST', '/pipelines/run', TWO_TASKS), 200, ['outputs', 'a'], [1, 2, 4]),
  'run of an expression': () => check(api.send('POST', '/pipelines/run', SUM), 200, ['outputs', 'a'], 7),
  'validation of YAML': () => check(api.send('POST', '/pipelines/validate', YAML), 200, ['ok'], true),
  'submission, result and repetition': submitAndRepeat,
  'list of runs': () => check(api.send('GET', '/pipelines/runs?limit=10'), 200),
};

measureFirst();

while (Date.now() < endAt) {
  for (const [name, send] of Object.entries(REQUESTS)) {
    try {
      const { ms } = await send();
      (times[name] ??= []).push(ms);
    } catch (error) {
      lost.push(`${name}: ${String(error)}`);
    }
    await sleep(PAUSE_MS);
  }
}
api.close();
const latencies = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, summarize(all)]));
process.stdout.write(JSON.stringify({ latencies, lost } satisfies HonestResult));

/** Throws unless the response has the status, and the expected value at the path; any, unless one is expected. */
async function check(
  sent: Promise<Reply>,
  status: number,
  at: readonly string[] = [],
  expected?: unknown,
): Promise<Reply> {
  const reply = await sent;
  if (reply.status !== status) throw new Error(`${reply.status} ${reply.text.slice(0, 200)}`);
  let value: unknown = JSON.parse(reply.text);
  for (const name of at) value = (value as Record<string, unknown> | null)?.[name];
  if (expected !== undefined && !isDeepStrictEqual(value, expected)) {
    throw new Error(`${at.join('.')} is ${JSON.stringify(value)}, not ${JSON.stringify(expected)}`);
  }
  return reply;
}

/** A payment that must not run twice: the repeated submission names the same run. */
async function submitAndRepeat(): Promise<Reply> {
  const headers = { 'idempotency-key': `${KEY_PREFIX}-${++payments}` };
  const submit = (): Promise<Reply> => api.send('POST', '/pipelines/run_async', TWO_TASKS, headers);
  const first = await check(submit(), 202);
  const { run_id: runId } = JSON.parse(first.text) as { run_id: string };
  const settled = await check(
    api.send('GET', `/pipelines/runs/${runId}?wait=60`),
    200,
    ['status'],
    'succeeded',
  );
  const repeated = await check(submit(), 202, ['run_id'], runId);
  return { ...settled, ms: first.ms + settled.ms + repeated.ms };
}

function summarize(all: readonly number[]): Latency {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/**
 * The tenant would have a machine of its own: here, the time for which its process waits for a processor would count as
 * that of the server.
 */
function measureFirst(): void {
  try {
    setPriority(-10);
  } catch {
    // Only root may: the server then looks slower than it is.
  }
}
