import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pipeline } from '../../../lib/pipelines/pipeline.js';
import type { RunRegistry } from '../../../lib/runs/registry.js';

const RUNS_PER_SECOND = 500;
const BATCH_MS = 10;
const SECONDS = 10;
const PAGE_EVERY_MS = 20;

export interface BesideRuns {
  /** Milliseconds from a submission until it is committed, in order of their length. */
  readonly commits: readonly number[];
  /** Milliseconds for a page of 50, in order of their length. */
  readonly pages: readonly number[];
  readonly runsPerSecond: number;
}

/** Submits 500 runs a second, as many as settle meanwhile, and reads pages of the list beside them. */
export async function measureBesideRuns(
  registry: RunRegistry,
  pipeline: Pipeline,
  inputs: Record<string, string>,
  count: number,
): Promise<BesideRuns> {
  const commits: number[] = [];
  const pages: number[] = [];
  const settled: Promise<unknown>[] = [];
  const submit = async (): Promise<void> => {
    const startedAt = performance.now();
    const runId = await registry.submit({ pipeline, inputs, tenant_id: 'tenant-0' });
    commits.push(performance.now() - startedAt);
    await registry.settled(runId);
  };
  const startedAt = performance.now();
  const endsAt = startedAt + SECONDS * 1000;
  const reading = (async () => {
    while (performance.now() < endsAt) {
      const depth = Math.max(2, Math.floor(Math.random() * count)).toString(36);
      const pageAt = performance.now();
      await registry.queries.listInTurns(
        { limit: 50, tenants: ['tenant-0'], cursor: `r${depth}` },
        'tenant-0',
      );
      pages.push(performance.now() - pageAt);
      await delay(PAGE_EVERY_MS);
    }
  })();
  let submitted = 0;
  while (performance.now() < endsAt) {
    const due = ((performance.now() - startedAt) / 1000) * RUNS_PER_SECOND;
    for (; submitted < due; submitted++) settled.push(submit());
    await delay(BATCH_MS);
  }
  await Promise.all([reading, ...settled]);
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    commits: commits.sort((a, b) => a - b),
    pages: pages.sort((a, b) => a - b),
    runsPerSecond: submitted / seconds,
  };
}
