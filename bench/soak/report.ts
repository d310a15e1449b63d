import type { Table } from '../http/table.js';
import { median } from '../measure.js';
import type { HonestResult, Latency } from './programs/honest.js';
import type { LoopWindow } from './programs/probe.js';
import type { Samples } from './samples.js';

/** How much longer than alone the 99th percentile of a request may take during the attacks, and should. */
const MAX_SLOWDOWN = 12;
const AIM_SLOWDOWN = 5;

/** The longest time that the server may hold its event loop at once, in milliseconds of CPU time of its main thread. */
const MAX_GAP_MS = 60;

/** How much the memory may grow from the second quarter of the attacks to the last one. */
const MAX_GROWTH = 1.25;

/** The answers to the third tenant, from the server alone, from the attacked server, and from an attacked one that does nothing. */
export interface HonestResults {
  readonly alone: HonestResult;
  readonly attacked: HonestResult;
  readonly floor: HonestResult;
}

export function addAnswers(table: Table, { alone, attacked, floor }: HonestResults): void {
  const lost = [...attacked.lost, ...alone.lost];
  table.add({
    measure: 'responses to the third tenant that were wrong or missing',
    result: String(lost.length),
    limit: '0',
    detail: (lost[0] ?? 'none').slice(0, 200),
    ok: lost.length === 0,
  });
  for (const [name, before] of Object.entries(alone.latencies)) {
    const during = attacked.latencies[name] ?? NOTHING;
    const least = floor.latencies[name] ?? NOTHING;
    const slowdown = during.p99 / before.p99;
    table.add({
      measure: `p99 of a ${name}`,
      result: `${slowdown.toFixed(1)}x`,
      limit: `<= ${MAX_SLOWDOWN}x`,
      aim: `${AIM_SLOWDOWN}x`,
      detail:
        `${during.count} requests: ${formatLatency(during)}; alone: ${formatLatency(before)}; ` +
        `${(during.p99 / least.p99).toFixed(1)}x of the floor: ${formatLatency(least)}`,
      ok: slowdown <= MAX_SLOWDOWN,
    });
  }
}

const NOTHING: Latency = { count: 0, p50: Number.NaN, p99: Number.NaN, max: Number.NaN };

function formatLatency({ p50, p99, max }: Latency): string {
  return `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, max ${max.toFixed(0)} ms`;
}

/** @param windows of the time of the attacks */
export function addEventLoop(table: Table, windows: readonly LoopWindow[], { overruns }: Samples): void {
  const longest = Math.max(...windows.map(({ cpu }) => cpu));
  const missed = windows.filter(({ cpu }) => cpu > MAX_GAP_MS).map(({ at }) => at.toFixed(0));
  table.add({
    measure: 'longest gap of the event loop, in CPU time of the main thread',
    result: `${longest.toFixed(0)} ms`,
    limit: `<= ${MAX_GAP_MS} ms`,
    detail: `in windows of 5 s: delay ${formatRange(windows)}; over the limit in the windows that end after (s): ${missed.join(', ') || 'none'}`,
    ok: longest <= MAX_GAP_MS,
  });
  const counted = [...overruns].filter(([, { count }]) => count > 0);
  table.add({
    measure: 'work that held the event loop for more than 8 ms',
    result: String(counted.reduce((sum, [, { count }]) => sum + count, 0)),
    limit: 'none',
    detail: counted
      .toSorted(([, a], [, b]) => b.longest - a.longest)
      .map(([place, { count, longest: s }]) => `${place} ${count}, longest ${(s * 1000).toFixed(0)} ms`)
      .join('; '),
    ok: true,
  });
}

function formatRange(windows: readonly LoopWindow[]): string {
  const measures = ['p50', 'p99', 'longest', 'cpu'] as const;
  return measures
    .map((name) => {
      const values = windows.map((window) => window[name]);
      const [least, most] = [Math.min(...values), Math.max(...values)];
      return `${name} ${median(values).toFixed(0)} (${least.toFixed(0)} to ${most.toFixed(0)})`;
    })
    .join(', ');
}

export function addMemory(table: Table, { memory }: Samples): void {
  const quarter = Math.floor(memory.length / 4);
  const early = median(memory.slice(quarter, 2 * quarter));
  const late = median(memory.slice(-quarter));
  table.add({
    measure: 'memory in the last quarter against the second one',
    result: `${(late / early).toFixed(2)}x`,
    limit: `<= ${MAX_GROWTH}x`,
    detail: `median ${late.toFixed(0)} against ${early.toFixed(0)} MiB, highest ${Math.max(...memory).toFixed(0)} MiB`,
    ok: late / early <= MAX_GROWTH,
  });
}
