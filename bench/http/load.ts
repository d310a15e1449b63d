import { performance } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { median } from '../measure.js';
import type { Child } from './child.js';

/** One kind of request to one server. */
export interface Load {
  readonly server: Child;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** The result of a load: requests per second, the 99th percentile and the CPU time of one request. */
export interface LoadResult {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
}

const CONNECTIONS = 16;

/** Sends requests to one server for some seconds. Throws when a response is not successful. */
export async function runLoad({ server, method, path, body }: Load, seconds: number): Promise<LoadResult> {
  const times: number[] = [];
  const cpuBefore = await server.request<NodeJS.CpuUsage>('cpu');
  const began = performance.now();
  const result = await runAutocannon(
    {
      url: server.url + path,
      method,
      connections: CONNECTIONS,
      duration: seconds,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    },
    (ms) => times.push(ms),
  );
  const tookMs = performance.now() - began;
  const cpuAfter = await server.request<NodeJS.CpuUsage>('cpu');
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${method} ${path}: ${result.non2xx} failed responses, ${result.errors} errors`);
  }
  const cpuMicroseconds = cpuAfter.user - cpuBefore.user + cpuAfter.system - cpuBefore.system;
  return {
    perSecond: times.length / (tookMs / 1000),
    p99Ms: percentile(times, 0.99),
    cpuMs: cpuMicroseconds / 1000 / times.length,
  };
}

/** Collects each response time, since autocannon's histogram counts whole milliseconds. */
function runAutocannon(
  options: autocannon.Options,
  onResponse: (ms: number) => void,
): Promise<autocannon.Result> {
  return new Promise((resolve, reject) => {
    const instance = autocannon(options, (error: Error | null, result) =>
      error === null ? resolve(result) : reject(error),
    );
    instance.on('response', (_client, _status, _bytes, ms) => onResponse(ms));
  });
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

/** Two servers under the same load, and the ratio of their results: medians of alternating rounds. */
export interface Comparison {
  readonly ours: LoadResult;
  readonly floor: LoadResult;
  readonly ratio: LoadResult;
}

export async function compareLoads(
  ours: Load,
  floor: Load,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Comparison> {
  const taken: { ours: LoadResult; floor: LoadResult }[] = [];
  for (let round = -1; round < rounds; round++) {
    const both = { floor: await runLoad(floor, seconds), ours: await runLoad(ours, seconds) };
    // The first round warms up.
    if (round >= 0) taken.push(both);
  }
  const medianOf = (of: (round: { ours: LoadResult; floor: LoadResult }) => number): number =>
    median(taken.map(of));
  const summarize = (
    of: (round: { ours: LoadResult; floor: LoadResult }, metric: keyof LoadResult) => number,
  ): LoadResult => ({
    perSecond: medianOf((round) => of(round, 'perSecond')),
    p99Ms: medianOf((round) => of(round, 'p99Ms')),
    cpuMs: medianOf((round) => of(round, 'cpuMs')),
  });
  return {
    ours: summarize((round, metric) => round.ours[metric]),
    floor: summarize((round, metric) => round.floor[metric]),
    ratio: summarize((round, metric) => round.ours[metric] / round.floor[metric]),
  };
}
