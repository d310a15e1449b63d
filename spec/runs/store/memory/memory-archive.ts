import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from '../../../../lib/common/scheduling/steps.js';
import { groupBy } from '../../../../lib/definition/group-by.js';
import type { BaseRun } from '../../../../lib/execution/run/base-run.js';
import type { RunSummary } from '../../../../lib/common/wire/run-summary.js';
import type { CommitQueue } from '../../../../lib/runs/store/commit-queue.js';
import type {
  ArchivedHead,
  ArchiveLimits,
  ArchivePage,
  ArchiveRange,
  EndCounts,
  EndStatus,
  ListedRun,
  PruneReason,
  PrunedRun,
  RunArchive,
  RunEnd,
  StoredRunHead,
} from '../../../../lib/runs/store/run-archive.js';
import { countRunsInMemory } from '../../../../lib/runs/store/statistics/run-counter.js';
import type {
  StatisticsQuery,
  StatisticsRows,
} from '../../../../lib/runs/store/statistics/statistics-query.js';
import { type CollectedRuns, collectRuns } from '../../../../lib/runs/views/run-listing.js';
import { type DefinitionOfTenant, type RunQuery } from '../../../../lib/runs/views/run-query.js';
import type { Disk } from './memory-store.js';

const HOUR_MS = 3_600_000;

/** The settled runs of a disk that is none, looked through one by one. */
export class MemoryArchive implements RunArchive {
  readonly #disk: Disk;
  readonly #queue: CommitQueue;

  constructor(disk: Disk, queue: CommitQueue) {
    this.#disk = disk;
    this.#queue = queue;
  }

  end(end: RunEnd): void {
    this.#queue.end(end);
  }

  async head(runId: string): Promise<ArchivedHead | undefined> {
    if (!this.#disk.runs.has(runId)) return undefined;
    return { ...this.#headOf(runId), summary: this.#disk.ends.get(runId)?.summary };
  }

  #headOf(runId: string): StoredRunHead {
    const run = this.#disk.runs.get(runId);
    if (run === undefined) throw new Error(`there is no run ${runId}`);
    const endStatus = this.#disk.ends.get(runId)?.summary.status as EndStatus | undefined;
    return { ...run, endStatus, hasSettled: hasSettled(this.#disk, runId) };
  }

  async page(query: RunQuery, { before, limit }: ArchiveRange): Promise<ArchivePage> {
    const below = this.#newestFirst().filter(({ number }) => number < before);
    const { cursor: _, counts: __, ...filters } = query;
    return { runs: collect(below, { ...filters, limit }).runs };
  }

  async count({ cursor: _, status: __, ...filters }: RunQuery): Promise<EndCounts> {
    const { counts } = collect(this.#newestFirst(), { ...filters, limit: 1, counts: true });
    const { succeeded = 0, failed = 0, cancelled = 0 } = counts ?? {};
    return { succeeded, failed, cancelled };
  }

  async oldest(tenants: readonly string[] | undefined): Promise<number | undefined> {
    const run = this.#newestFirst().findLast(
      ({ summary }) => tenants === undefined || tenants.includes(summary.tenant_id),
    );
    return run && Date.parse(run.summary.created_at);
  }

  async lastRuns(
    definitions: readonly DefinitionOfTenant[],
    most: number,
  ): Promise<readonly (readonly ListedRun[])[]> {
    const runs = this.#newestFirst();
    return definitions.map(({ tenantId, id }) =>
      runs
        .filter(({ summary }) => summary.tenant_id === tenantId && summary.pipeline_id === id)
        .slice(0, most),
    );
  }

  async statistics(query: StatisticsQuery): Promise<StatisticsRows> {
    const entries = this.#disk.counted.map((end) => ({ run: toRun(end.summary, end.cost) }));
    return runToEnd(countRunsInMemory(entries, query));
  }

  async findKey(tenantId: string, key: string): Promise<StoredRunHead | undefined> {
    const runs = [...this.#disk.runs.values()].toReversed();
    const found = runs.find((run) => run.tenantId === tenantId && run.idempotency?.key === key);
    return found && this.#headOf(found.id);
  }

  async prune({ ttlMs, maxRuns }: ArchiveLimits, now: number): Promise<readonly PrunedRun[]> {
    const oldest = Math.floor(now / HOUR_MS - 400 * 24) * HOUR_MS;
    this.#disk.counted = this.#disk.counted.filter(
      ({ summary }) => Date.parse(summary.finished_at ?? '') >= oldest,
    );
    const ends = this.#newestFirst();
    const isOlder = ({ summary }: ListedRun, ageMs: number): boolean =>
      Date.parse(summary.finished_at ?? '') <= now - ageMs;
    const keepOf = ({ summary }: ListedRun): RunEnd['keep'] => this.#disk.ends.get(summary.run_id)?.keep;
    const kept = ends.filter((run) => isOlder(run, keepOf(run)?.ageMs ?? Number.POSITIVE_INFINITY));
    const tooMany = [...groupByPipeline(ends).values()].flatMap((runs) => {
      const most = runs[0] && keepOf(runs[0])?.runs;
      return most === undefined ? [] : runs.slice(most);
    });
    const expired = ends.filter((run) => keepOf(run)?.ageMs === undefined && isOlder(run, ttlMs));
    const excess = ends.length - maxRuns;
    const choices: readonly [PruneReason, readonly ListedRun[]][] = [
      ['age', expired.toReversed()],
      ['number', excess > 0 ? oldestOfLargest(ends, excess) : []],
      ['keep', kept.toReversed()],
      ['keep', tooMany.toReversed()],
    ];
    const [reason, chosen] = choices.find(([, runs]) => runs.length > 0) ?? ['number', []];
    const pruned = chosen.map(({ summary: { run_id: id, status } }) => ({
      ...this.#headOf(id),
      status: status as EndStatus,
      reason,
    }));
    for (const { id } of pruned) removeRun(this.#disk, id);
    return pruned;
  }

  #newestFirst(): ListedRun[] {
    const listed = [...this.#disk.ends.values()].map(({ summary }) => ({
      number: this.#disk.runs.get(summary.run_id)?.number ?? 0,
      summary,
    }));
    return listed.sort((a, b) => b.number - a.number);
  }
}

function groupByPipeline(newestFirst: readonly ListedRun[]): ReadonlyMap<string, readonly ListedRun[]> {
  return groupBy(newestFirst, ({ summary }) => JSON.stringify([summary.tenant_id, summary.pipeline_id]));
}

function oldestOfLargest(newestFirst: readonly ListedRun[], most: number): readonly ListedRun[] {
  const byTenant = new Map<string, ListedRun[]>();
  for (const run of newestFirst) {
    byTenant.set(run.summary.tenant_id, [...(byTenant.get(run.summary.tenant_id) ?? []), run]);
  }
  const largest = [...byTenant.values()].sort((a, b) => b.length - a.length)[0] ?? [];
  return largest.toReversed().slice(0, most);
}

/** Collects the runs as if they were in the memory of a registry. */
function collect(runs: readonly ListedRun[], query: RunQuery): CollectedRuns {
  const entries = runs.map(({ number, summary }) => ({ sequence: number, run: toRun(summary) }));
  return runToEnd(collectRuns(entries, query));
}

function toRun(summary: RunSummary, cost?: number): BaseRun {
  const toMs = (time: string | null): number | null => (time === null ? null : Date.parse(time));
  const run = {
    id: summary.run_id,
    kind: summary.kind,
    status: summary.status,
    isPaused: false,
    definitionId: summary.pipeline_id,
    tenantId: summary.tenant_id,
    goal: summary.goal,
    isSettled: true,
    createdAt: toMs(summary.created_at),
    begunAt: toMs(summary.started_at),
    finishedAt: toMs(summary.finished_at),
    progress: summary.progress,
    error: summary.error,
    failures: [],
    errorCode: summary.error_code,
    failedTask: summary.failed_task,
    rerunOf: summary.rerun_of,
    trigger: summary.trigger,
    startedBy: summary.started_by,
    journal: { cost },
    labels: summary.labels,
    priority: summary.priority,
  };
  return run as unknown as BaseRun;
}

export function hasSettled({ documents }: Disk, runId: string): boolean {
  const last = documents.get(runId)?.slice(1).at(-1);
  const facts = last === undefined ? [] : (JSON.parse(last) as { readonly kind?: string }[]);
  return facts.at(-1)?.kind === 'settled';
}

/** Removes a run, and its files when no rerun uses them any more. */
export function removeRun(disk: Disk, runId: string): void {
  const run = disk.runs.get(runId);
  const artifacts = disk.ends.get(runId)?.artifactCount;
  disk.runs.delete(runId);
  disk.documents.delete(runId);
  disk.ends.delete(runId);
  if (run !== undefined) disk.removed.set(runId, run.rerunOf);
  if (run !== undefined && artifacts === 0) disk.removed.delete(runId);
  releaseFiles(disk, artifacts === 0 ? run?.rerunOf : runId);
}

function releaseFiles(disk: Disk, runId: string | undefined): void {
  if (runId === undefined || !disk.removed.has(runId)) return;
  const isUsed =
    [...disk.runs.values()].some(({ rerunOf }) => rerunOf === runId) ||
    [...disk.removed.values()].includes(runId);
  if (isUsed) return;
  const earlier = disk.removed.get(runId);
  disk.removed.delete(runId);
  if (disk.filesFolder !== undefined) rmSync(join(disk.filesFolder, runId), { recursive: true, force: true });
  releaseFiles(disk, earlier);
}
