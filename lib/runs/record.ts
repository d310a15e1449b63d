import type { RunTrigger, StartedBy } from '../common/started-by.js';
import type { RunStatus } from '../../machines/types.js';
import { toIsoTime } from '../common/clock.js';
import { MAX_LISTED_ARTIFACTS } from '../common/limits.js';
import type { FailedTask, TaskFailure } from '../common/errors.js';
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
  /** True while the run waits at a breakpoint until it is continued or cancelled; its status is `running`. */
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
  /** The schedule or webhook that has started the run (D70, D71); null for a request, a person or any rerun. */
  readonly trigger: RunTrigger | null;
  /** The caller, or the part of Wavetrain, that has started the run or has asked for the rerun (D75). */
  readonly started_by: StartedBy;
  /** The first 1,000 files of the run, in the order of their names (D63). */
  readonly artifacts: readonly RunArtifact[];
  /** The number of all files of the run. */
  readonly artifact_count: number;
  /** The use of language models by the run, by model. */
  readonly usage: readonly ModelUsage[];
  /** The cost of that use, in US dollars: of the models whose prices are configured; absent when there is none. */
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

/** Returns a list as it is now. The list of a settled run never changes again, so all records of the run share it. */
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
    trigger: run.trigger,
    started_by: run.startedBy,
  };
}
