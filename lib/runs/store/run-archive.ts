import type { RunStatus } from '../../../machines/types.js';
import type { Keep } from '../../definition/run-fields/keep.js';
import type { RunSummary } from '../../common/wire/run-summary.js';
import type { DefinitionOfTenant, RunQuery } from '../views/run-query.js';
import type { IdempotencyKey } from '../idempotency.js';
import type { StatisticsQuery, StatisticsRows } from './statistics/statistics-query.js';

/** A run that was accepted, without what was submitted. */
export interface StoredRunHead {
  readonly id: string;
  /** Counts the runs of the store from 1, in the order in which they were accepted. */
  readonly number: number;
  /** Milliseconds since 1970, UTC. */
  readonly createdAt: number;
  readonly tenantId: string;
  readonly hasSettled: boolean;
  /** The end of a run in the archive; undefined for others. */
  readonly endStatus?: EndStatus | undefined;
  readonly idempotency: IdempotencyKey | undefined;
  /** Orders the queued runs of a tenant (D81). */
  readonly priority: number;
}

/** A run of the archive: one with a summary is shown from its facts. */
export interface ArchivedHead extends StoredRunHead {
  /** How the run has ended, as lists show it; undefined for a run whose end is not in the archive. */
  readonly summary?: RunSummary | undefined;
  /** Some of its facts can be left out by a reader who looks at few of its items. */
  readonly hasItemParts?: boolean;
}

/** The end of a run as its store keeps it for lists, which read no facts (D74). */
export interface RunEnd {
  readonly summary: RunSummary;
  /** In US dollars; undefined when no price is configured. */
  readonly cost: number | undefined;
  readonly artifactCount: number;
  /** Of all files of the run, those included that it reuses of an earlier run. */
  readonly artifactBytes: number;
  /** How long the run is kept, and how many of its definition; undefined when the limits of the store decide. */
  readonly keep?: Keep | undefined;
}

/** A settled run in a list. */
export interface ListedRun {
  /** The place in the order of submissions. */
  readonly number: number;
  readonly summary: RunSummary;
}

/** The settled runs of one page, the newest first. */
export interface ArchivePage {
  readonly runs: readonly ListedRun[];
  /** Every matching run after this number is on the page: the search took too long. Undefined when it is complete. */
  readonly searchedTo?: number | undefined;
}

/** The part of a list to read. */
export interface ArchiveRange {
  /** Only runs with a smaller number. */
  readonly before: number;
  readonly limit: number;
}

/** The settled statuses. */
export type EndStatus = Exclude<RunStatus, 'queued' | 'running'>;

export type EndCounts = Readonly<Record<EndStatus, number>>;

/** The bounds of the settled runs that a store keeps, besides those of definitions (D74). */
export interface ArchiveLimits {
  /** How long a settled run is kept, in milliseconds, unless its definition says it. */
  readonly ttlMs: number;
  readonly maxRuns: number;
  /** Bytes of the file and of the files of its runs. */
  readonly maxBytes: number;
}

/** `keep`: more, or longer, than the definition of the run says. */
export type PruneReason = 'age' | 'number' | 'bytes' | 'keep';

/** A run that the store has deleted because of its limits. */
export interface PrunedRun extends StoredRunHead {
  readonly status: EndStatus;
  readonly reason: PruneReason;
}

/**
 * The settled runs of a store (D74). Each method reads what the store has now: between two calls, a run may settle or be
 * deleted. A run that has not settled is in no list. `tenantId` is that of the caller: tenants take turns.
 */
export interface RunArchive {
  /** Keeps the end of a run, in one commit with its last fact. Call once, right after that fact was appended. */
  end(end: RunEnd): void;
  /** The run, settled or not; undefined when it is not kept. */
  head(runId: string, tenantId?: string): Promise<ArchivedHead | undefined>;
  /** At least one run, unless none matches or the search takes too long. */
  page(query: RunQuery, range: ArchiveRange, tenantId: string): Promise<ArchivePage>;
  /** The number of all runs that the query selects, whatever their status and page. */
  count(query: RunQuery, tenantId: string): Promise<EndCounts>;
  /** When the oldest settled run was accepted, in milliseconds since 1970. @param tenants undefined for all */
  oldest(tenants: readonly string[] | undefined, tenantId: string): Promise<number | undefined>;
  /** The last settled runs of each definition, in the order of the definitions, the newest first. */
  lastRuns(
    definitions: readonly DefinitionOfTenant[],
    most: number,
    tenantId: string,
  ): Promise<readonly (readonly ListedRun[])[]>;
  /** Counts the runs that have settled, also those that were deleted since. */
  statistics(query: StatisticsQuery, tenantId: string): Promise<StatisticsRows>;
  /** The settled run, or the one at work, that was submitted with an idempotency key; undefined when none is kept. */
  findKey(tenantId: string, key: string): Promise<StoredRunHead | undefined>;
  /**
   * Deletes some of the runs that exceed the limits, those of their definitions last, the oldest first, of the tenant that
   * has most: most runs, or most bytes, those of its runs at work included. For want of room, nobody else loses runs but a
   * tenant whose bytes exceed its share of the limit. Resolves with the runs; with none when nothing is left to do. Rejects
   * when bytes exceed the limit that nobody's settled runs can free.
   *
   * @param now milliseconds since 1970, UTC
   */
  prune(limits: ArchiveLimits, now: number): Promise<readonly PrunedRun[]>;
}
