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

/** What a server made of a load: requests in a second, milliseconds and its own CPU time for each. */
export interface Pace {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
}

const CONNECTIONS = 16;

/** Fires at one server for some seconds. Every answer must be a good one. */
export async function fire({ server, method, path, body }: Load, seconds: number): Promise<Pace> {
  const times: number[] = [];
  const cpuBefore = await server.ask<NodeJS.CpuUsage>('cpu');
  const began = performance.now();
  const result = await cannonade(
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
  const cpuAfter = await server.ask<NodeJS.CpuUsage>('cpu');
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${method} ${path}: ${result.non2xx} bad answers, ${result.errors} errors`);
  }
  const cpuMicroseconds = cpuAfter.user - cpuBefore.user + cpuAfter.system - cpuBefore.system;
  return {
    perSecond: times.length / (tookMs / 1000),
    p99Ms: percentile(times, 0.99),
    cpuMs: cpuMicroseconds / 1000 / times.length,
  };
}

/** The histogram of autocannon counts whole milliseconds, which is more than most answers take. */
function cannonade(
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

/** Two servers under the same load, and what one is in terms of the other: medians of rounds in which they take turns. */
export interface Comparison {
  readonly ours: Pace;
  readonly floor: Pace;
  readonly ratio: Pace;
}

export async function compareLoads(
  ours: Load,
  floor: Load,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Comparison> {
  const taken: { ours: Pace; floor: Pace }[] = [];
  for (let round = -1; round < rounds; round++) {
    const both = { floor: await fire(floor, seconds), ours: await fire(ours, seconds) };
    // The first is for warming up.
    if (round >= 0) taken.push(both);
  }
  const middle = (of: (round: { ours: Pace; floor: Pace }) => number): number => median(taken.map(of));
  const pace = (of: (round: { ours: Pace; floor: Pace }, figure: keyof Pace) => number): Pace => ({
    perSecond: middle((round) => of(round, 'perSecond')),
    p99Ms: middle((round) => of(round, 'p99Ms')),
    cpuMs: middle((round) => of(round, 'cpuMs')),
  });
  return {
    ours: pace((round, figure) => round.ours[figure]),
    floor: pace((round, figure) => round.floor[figure]),
    ratio: pace((round, figure) => round.ours[figure] / round.floor[figure]),
  };
}
