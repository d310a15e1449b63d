import { toIsoTime } from '../common/clock.js';
import { MAX_LISTED_ARTIFACTS, MAX_LISTED_SKIPS } from '../common/limits.js';
import { type PlanOutcome, type RunOutcome, toHandlerFields } from '../execution/results.js';
import type { WaitingFor } from '../common/wire/run-summary.js';
import type { ListedField, ReadableRun } from '../execution/run/readable-run.js';
import type { BaseRun } from '../execution/run/base-run.js';
import type { RunSummary } from '../common/wire/run-summary.js';
import type { AcceptedSchema, RunRecordSchema } from '../common/wire/run.js';
import type { Shape } from '../common/wire/shape.js';

/** The public JSON of a run (Run record, D28): a read-only projection of its actor, or of its facts. */
export interface RunRecord extends Omit<Shape<typeof RunRecordSchema>, 'result'> {
  /** Set only when the run succeeded; its shape depends on `kind`. */
  readonly result: Either<RunOutcome, PlanOutcome> | null;
}

/** A or B; fields of both can be read without narrowing first. */
type Either<A, B> = (A & { readonly [K in keyof B]?: never }) | (B & { readonly [K in keyof A]?: never });

/** The response to a submission. */
export interface AcceptedRun extends Shape<typeof AcceptedSchema> {}

/**
 * Builds the current record, anew at each call. An archive keeps the summary of a settled run.
 *
 * @param waitingFor what the run waits for
 */
export function toRunRecord(run: ReadableRun, waitingFor: WaitingFor | null = null): RunRecord {
  // Spreading the summary into a new object takes four times as long.
  const { artifacts } = run;
  const { usage, cost } = run.journal;
  return Object.assign(toRunSummary(run, waitingFor), {
    result: run.result,
    sub_pipelines: run.subPipelines,
    failures: snapshotOf(run.failures, run),
    ...(run.skipped.length > 0 && { skipped: run.skipped.slice(0, MAX_LISTED_SKIPS) }),
    ...toHandlerFields(run.handlerOutcome),
    events: run.journal.events === null ? null : snapshotOf(run.journal.events, run),
    artifacts: artifacts.length > MAX_LISTED_ARTIFACTS ? artifacts.slice(0, MAX_LISTED_ARTIFACTS) : artifacts,
    artifact_count: artifacts.length,
    usage,
    ...(cost !== undefined && { cost }),
  });
}

/** Returns a list as it is now. The list of a settled run never changes again, so all records of the run share it. */
function snapshotOf<T>(list: readonly T[], { isSettled }: ReadableRun): readonly T[] {
  return isSettled ? list : [...list];
}

/** The part of a run that lists show. @param queued as for a record */
export function toRunSummary(
  run: Pick<BaseRun, ListedField | 'kind'>,
  waitingFor: WaitingFor | null = null,
): RunSummary {
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
    error_code: run.errorCode,
    failed_task: run.failedTask,
    rerun_of: run.rerunOf,
    trigger: run.trigger,
    started_by: run.startedBy,
    labels: run.labels,
    priority: run.priority,
    waiting_for: waitingFor,
  };
}
