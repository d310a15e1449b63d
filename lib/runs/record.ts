import type { RunStatus } from '../../machines/types.js';
import type { TaskFailure } from '../common/errors.js';
import type { TaskEvent } from '../execution/events/event.js';
import type { PlanOutcome, RunOutcome, RunProgress, SubPipelineStatuses } from '../execution/results.js';
import type { ActorRun } from '../execution/run/base-run.js';

/** The public JSON of a run (Run record, D28). A projection of its actor, never changed by hand. */
export interface RunRecord {
  readonly run_id: string;
  readonly kind: 'pipeline' | 'plan';
  readonly status: RunStatus;
  /** Of the pipeline, or of the plan. */
  readonly pipeline_id: string;
  readonly tenant_id: string;
  /** The goal with params applied. */
  readonly goal: string;
  /** Nothing of the run is at work any more. */
  readonly settled: boolean;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly progress: RunProgress;
  /** Set only when succeeded; of the kind of the run. */
  readonly result: Either<RunOutcome, PlanOutcome> | null;
  /** The message of the first failure in time; set only when failed. */
  readonly error: string | null;
  readonly failures: readonly TaskFailure[];
  readonly events: readonly TaskEvent[] | null;
  /** What has become of each sub-pipeline of a plan, in declared order; null for a pipeline. */
  readonly sub_pipelines: SubPipelineStatuses | null;
  /** The run that this one repeats; null for a first one (D35). */
  readonly rerun_of: string | null;
}

/** One of the two, so that a field of either may be asked for. */
type Either<A, B> = (A & { readonly [K in keyof B]?: never }) | (B & { readonly [K in keyof A]?: never });

/** A record without what may be large: one line of a list. */
export type RunSummary = Omit<RunRecord, 'result' | 'failures' | 'events' | 'sub_pipelines'>;

/** What a caller is told who has just submitted a run. */
export interface Acceptance {
  readonly run_id: string;
  readonly status: RunStatus;
}

/** The record of a run as it is now: made anew at each look (law L3). */
export function recordOf(run: ActorRun): RunRecord {
  // Spreading the summary into a new object takes four times as long.
  return Object.assign(summaryOf(run), {
    result: run.result,
    sub_pipelines: run.subPipelines,
    failures: [...run.failures],
    events: run.journal.events === null ? null : [...run.journal.events],
  });
}

export function summaryOf(run: ActorRun): RunSummary {
  return {
    run_id: run.id,
    kind: run.kind,
    status: run.status,
    pipeline_id: run.definitionId,
    tenant_id: run.tenantId,
    goal: run.goal,
    settled: run.isSettled,
    created_at: timeOf(run.createdAt),
    started_at: run.startedAt === null ? null : timeOf(run.startedAt),
    finished_at: run.finishedAt === null ? null : timeOf(run.finishedAt),
    progress: run.progress,
    error: run.error,
    rerun_of: run.rerunOf,
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
