import type { RunStatus } from '../../machines/types.js';
import { toIsoTime } from '../common/clock.js';
import { MAX_LISTED_ARTIFACTS } from '../common/limits.js';
import { type FailedTask, type TaskFailure, WavetrainError } from '../common/errors.js';
import type { TaskEvent } from '../execution/events/event.js';
import type {
  PlanOutcome,
  RunArtifact,
  RunOutcome,
  RunProgress,
  SubPipelineStatuses,
} from '../execution/results.js';
import type { ModelUsage } from '../models/model.js';
import type { BaseRun } from '../execution/run/base-run.js';

/** The public JSON of a run (Run record, D28): a read-only projection of its actor. */
export interface RunRecord {
  readonly run_id: string;
  readonly kind: 'pipeline' | 'plan';
  readonly status: RunStatus;
  /** It waits at a breakpoint until it is continued or cancelled; its status is `running`. */
  readonly paused: boolean;
  /** Id of the pipeline or of the plan. */
  readonly pipeline_id: string;
  readonly tenant_id: string;
  /** The goal with params applied. */
  readonly goal: string;
  /** The run has ended and none of its tools is still running. */
  readonly settled: boolean;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly progress: RunProgress;
  /** Set only when the run succeeded; its shape depends on `kind`. */
  readonly result: Either<RunOutcome, PlanOutcome> | null;
  /** Message of the earliest failure; set only when the run failed. */
  readonly error: string | null;
  /** The task of that failure; null unless a task has failed the run. */
  readonly failed_task: FailedTask | null;
  readonly failures: readonly TaskFailure[];
  readonly events: readonly TaskEvent[] | null;
  /** Status of each sub-pipeline of a plan, in declared order; null for a pipeline. */
  readonly sub_pipelines: SubPipelineStatuses | null;
  /** Id of the run that this one repeats; null when it is not a rerun (D35). */
  readonly rerun_of: string | null;
  /** The first 1,000 of its files, in the order of their names (D63). */
  readonly artifacts: readonly RunArtifact[];
  /** The number of its files. */
  readonly artifact_count: number;
  /** What it has used of language models, by model. */
  readonly usage: readonly ModelUsage[];
  /** What that has cost, in US dollars: of the models whose prices are configured; only when there is one. */
  readonly cost?: number;
}

/** A or B; fields of both can be read without narrowing first. */
type Either<A, B> = (A & { readonly [K in keyof B]?: never }) | (B & { readonly [K in keyof A]?: never });

/** A record without the fields that may be large, as listed. */
export type RunSummary = Omit<
  RunRecord,
  'result' | 'failures' | 'events' | 'sub_pipelines' | 'artifacts' | 'artifact_count' | 'usage' | 'cost'
>;

/** The response to a submission. */
export interface AcceptedRun {
  readonly run_id: string;
  readonly status: RunStatus;
}

/** Builds the current record, anew at each call. Only the history of the shell stores a summary of it. */
export function toRunRecord(run: BaseRun): RunRecord {
  // Spreading the summary into a new object takes four times as long.
  const { artifacts } = run;
  const { usage, cost } = run.journal;
  return Object.assign(toRunSummary(run), {
    result: run.result,
    sub_pipelines: run.subPipelines,
    failures: snapshotOf(run.failures, run),
    events: run.journal.events === null ? null : snapshotOf(run.journal.events, run),
    artifacts: artifacts.length > MAX_LISTED_ARTIFACTS ? artifacts.slice(0, MAX_LISTED_ARTIFACTS) : artifacts,
    artifact_count: artifacts.length,
    usage,
    ...(cost !== undefined && { cost }),
  });
}

/** A list as it is now. That of a settled run does not change any more, so all its records share it. */
function snapshotOf<T>(list: readonly T[], { isSettled }: BaseRun): readonly T[] {
  return isSettled ? list : [...list];
}

export function toRunSummary(run: BaseRun): RunSummary {
  return {
    run_id: run.id,
    kind: run.kind,
    status: run.status,
    paused: run.isPaused,
    pipeline_id: run.definitionId,
    tenant_id: run.tenantId,
    goal: run.goal,
    settled: run.isSettled,
    created_at: toIsoTime(run.createdAt),
    started_at: run.begunAt === null ? null : toIsoTime(run.begunAt),
    finished_at: run.finishedAt === null ? null : toIsoTime(run.finishedAt),
    progress: run.progress,
    error: run.error,
    failed_task: run.failedTask,
    rerun_of: run.rerunOf,
  };
}

/** Filters and pages the list of runs (D35). */
export interface RunQuery {
  /** Only runs of these tenants; undefined includes every tenant. */
  readonly tenants?: readonly string[] | undefined;
  readonly status?: RunStatus | undefined;
  readonly pipeline_id?: string | undefined;
  /** Largest number of runs on the page. */
  readonly limit: number;
  /** The `next_cursor` of the previous page; undefined starts with the newest run. */
  readonly cursor?: string | undefined;
}

export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A page ends early rather than being larger than this. */
const MAX_PAGE_BYTES = 2 ** 20;

/** A run, with its place in the order of submissions. */
interface ListedRun {
  readonly sequence: number;
  readonly run: BaseRun;
}

/**
 * One page of runs. It continues where the previous page ended, even if runs were added or forgotten meanwhile. It has
 * at most `limit` runs and about 1 MiB, but at least one run.
 *
 * @param entries the newest first
 * @throws WavetrainError `invalid_request` for a malformed cursor
 */
export function paginate(entries: Iterable<ListedRun>, query: RunQuery): RunPage {
  const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : decodeCursor(query.cursor);
  const runs: RunSummary[] = [];
  let bytes = 0;
  let last = 0;
  for (const entry of entries) {
    if (entry.sequence >= before || !matches(entry, query)) continue;
    const summary = toRunSummary(entry.run);
    bytes += Buffer.byteLength(JSON.stringify(summary));
    const isFull = runs.length === query.limit || (bytes > MAX_PAGE_BYTES && runs.length > 0);
    if (isFull) return { runs, next_cursor: encodeCursor(last) };
    runs.push(summary);
    last = entry.sequence;
  }
  return { runs, next_cursor: null };
}

function matches({ run }: ListedRun, { tenants, status, pipeline_id }: RunQuery): boolean {
  if (tenants !== undefined && !tenants.includes(run.tenantId)) return false;
  if (pipeline_id !== undefined && run.definitionId !== pipeline_id) return false;
  return status === undefined || run.status === status;
}

function encodeCursor(sequence: number): string {
  return `r${sequence.toString(36)}`;
}

function decodeCursor(cursor: string): number {
  if (/^r[0-9a-z]{1,10}$/.test(cursor)) return Number.parseInt(cursor.slice(1), 36);
  throw new WavetrainError('invalid_request', `cursor must be the next_cursor of an earlier page`);
}

/** Names a pipeline or a plan of a tenant. */
export interface DefinitionOfTenant {
  readonly tenantId: string;
  readonly id: string;
}

/** The last runs of each of some definitions, in one walk. @param entries the newest first */
export function collectLastRuns<D extends DefinitionOfTenant>(
  entries: Iterable<ListedRun>,
  definitions: readonly D[],
  most: number,
): Map<D, RunSummary[]> {
  const found = new Map<D, RunSummary[]>(definitions.map((definition) => [definition, []]));
  const byTenant = new Map<string, Map<string, RunSummary[]>>();
  for (const [{ tenantId, id }, runs] of found) {
    const ofTenant = byTenant.get(tenantId) ?? new Map<string, RunSummary[]>();
    byTenant.set(tenantId, ofTenant.set(id, runs));
  }
  let missing = definitions.length * most;
  for (const { run } of entries) {
    if (missing === 0) break;
    const runs = byTenant.get(run.tenantId)?.get(run.definitionId);
    if (runs === undefined || runs.length === most) continue;
    runs.push(toRunSummary(run));
    missing--;
  }
  return found;
}

/** The number of runs per status; omits a status without runs. */
export function countStatuses(entries: Iterable<ListedRun>): Map<RunStatus, number> {
  const counts = new Map<RunStatus, number>();
  for (const { run } of entries) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  return counts;
}
