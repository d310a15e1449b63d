import { toSubPipelineStatus } from '../../machines/status.js';
import type { RunStatus, SubPipelineStatus } from '../../machines/types.js';
import {
  createRunError,
  type FailedTask,
  type SkippedTask,
  type TaskFailure,
  WavetrainError,
} from '../common/errors.js';
import type { Json } from '../common/json/json.js';
import type { TaskEvent } from './events/event.js';
import type { Write } from './session/session-overrides.js';
import type {
  PlanOutcomeSchema,
  PlanResultSchema,
  RunArtifactSchema,
  RunOutcomeSchema,
  RunProgressSchema,
  RunResultSchema,
} from '../common/wire/run.js';
import type { Shape } from '../common/wire/shape.js';

/** The output and the writes that a succeeded task publishes. */
export interface TaskOutcome {
  readonly output: Json;
  readonly writes: readonly Write[];
  /** The items of a fan-out whose errors were collected (D67); left out when there are none. */
  readonly collected?: readonly TaskFailure[];
  /** Approximate memory of the outcome, in bytes. */
  readonly sizeBytes: number;
}

/** The outputs and the counts of a succeeded run. */
export interface RunOutcome extends Shape<typeof RunOutcomeSchema> {}

/** The outputs of the handlers of a run by id, and their failures in the order in which they happened (D80). */
export interface HandlerOutcome {
  readonly outputs: Readonly<Record<string, Json>>;
  readonly failures: readonly TaskFailure[];
}

/** The outcome of a run with its events (RunResult). */
export interface RunResult extends Shape<typeof RunResultSchema> {}

/** The results, the values and the counts of a succeeded plan (D47). */
export interface PlanOutcome extends Shape<typeof PlanOutcomeSchema> {}

/** The outcome of a plan with its events. */
export interface PlanResult extends Shape<typeof PlanResultSchema> {}

/** The progress of a run (D28). A plan sums up its sub-pipelines. */
export interface RunProgress extends Shape<typeof RunProgressSchema> {}

/** Sub-pipeline id to the status of its run; `skipped` when it has none (D77), null when it has not begun. */
export type SubPipelineStatuses = Record<string, SubPipelineStatus | null>;

/** A file of a run: one that a tool has written, or bytes that a tool has returned (D24, D63). */
export interface RunArtifact extends Shape<typeof RunArtifactSchema> {}

/** A run whose result is waited for. */
interface AwaitedRun<O> {
  readonly id: string;
  readonly settled: Promise<void>;
  readonly status: RunStatus;
  readonly error: string | null;
  readonly failedTask: FailedTask | null;
  readonly errorCode: string | null;
  readonly failures: readonly TaskFailure[];
  readonly journal: { readonly events: readonly TaskEvent[] | null };
  readonly result: O | null;
  readonly handlerOutcome: HandlerOutcome | null;
}

/**
 * Resolves with the result and the events of a run that has settled (RunResult, D47). Rejects with a TaskFailedError
 * (`task_failed`, D16; `run_timeout`, D81), with `run_cancelled`, or with `run_not_found` when the run was forgotten before.
 */
export async function awaitResult<O extends object>(
  run: AwaitedRun<O>,
): Promise<O & { readonly events: readonly TaskEvent[] | null }> {
  await run.settled;
  const { id, status, result, journal } = run;
  if (result !== null) return { ...result, ...toHandlerFields(run.handlerOutcome), events: journal.events };
  if (status === 'cancelled' || status === 'failed') throw createRunError(id, run);
  throw new WavetrainError('run_not_found', `run ${id} was forgotten before it had settled`);
}

/** @param handlers undefined for a definition without handlers @param work undefined before they begin */
export function toHandlerOutcome(
  handlers: object | undefined,
  work:
    | Readonly<{ handlerOutputs: HandlerOutcome['outputs']; handlerFailures: HandlerOutcome['failures'] }>
    | undefined,
): HandlerOutcome | null {
  if (handlers === undefined) return null;
  return { outputs: work?.handlerOutputs ?? {}, failures: work?.handlerFailures ?? [] };
}

/** The fields of a record and of a result that say what handlers did; none without handlers. */
export function toHandlerFields(outcome: HandlerOutcome | null): {
  handlers?: Record<string, Json>;
  handler_failures?: readonly TaskFailure[];
} {
  if (outcome === null) return {};
  return { handlers: { ...outcome.outputs }, handler_failures: [...outcome.failures] };
}

/** The runs of the sub-pipelines of a plan by id, and why others were skipped. */
interface SubRunsByEnd<R> {
  readonly begun: ReadonlyMap<string, R>;
  readonly skipped: ReadonlyMap<string, string>;
}

/**
 * The skipped sub-pipelines of a plan, then the tasks that called nothing, by sub-pipeline in the order in which those began,
 * then the handlers of the plan.
 */
export function listSkipped<R extends { readonly work: { readonly skipped: readonly SkippedTask[] } }>({
  begun,
  skipped,
  handlers,
}: SubRunsByEnd<R> & { readonly handlers: R | undefined }): readonly SkippedTask[] {
  const parts = Array.from(skipped, ([id, reason]): SkippedTask => ({ sub_pipeline: id, reason }));
  const tasks = [...begun].flatMap(([id, { work }]) =>
    work.skipped.map((task) => ({ sub_pipeline: id, ...task })),
  );
  return [...parts, ...tasks, ...(handlers?.work.skipped ?? [])];
}

/** @param ids of all sub-pipelines, in declaration order */
export function listStatuses(
  ids: Iterable<string>,
  { begun, skipped }: SubRunsByEnd<{ readonly status: RunStatus }>,
): SubPipelineStatuses {
  const statuses = Array.from(ids, (id) => [id, toSubPipelineStatus(begun.get(id)?.status, skipped.has(id))]);
  return Object.fromEntries(statuses) as SubPipelineStatuses;
}
