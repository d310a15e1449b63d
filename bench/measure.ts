import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** Measures the median time of each candidate in milliseconds; the candidates alternate. */
export async function compare<K extends string>(
  candidates: Record<K, () => Promise<unknown>>,
  { rounds, warmup }: { readonly rounds: number; readonly warmup: number },
): Promise<Record<K, number>> {
  const names = Object.keys(candidates) as K[];
  const times = new Map<K, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < warmup + rounds; round++) {
    for (const name of names) {
      const ms = await timed(candidates[name]);
      if (round >= warmup) times.get(name)?.push(ms);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name) ?? [])])) as Record<K, number>;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Measures the longest event-loop delay during the work, in milliseconds. */
export async function longestGap(work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  // The monitor starts with its first tick and would miss an earlier delay.
  await wait();
  await work();
  await wait();
  histogram.disable();
  return histogram.max / 1e6;
}

function wait(): Promise<void> {
  return new Promise((next) => {
    setTimeout(next, 5);
  });
}

/** Returns the heap in use after a garbage collection, in bytes. Needs `node --expose-gc`. */
export async function heapInUse(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  for (let time = 0; time < 4; time++) {
    await new Promise((next) => {
      setImmediate(next);
    });
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}
