import { WavetrainError } from '../errors.js';
import type { ActorRun } from '../execution/actor-run.js';
import type { LocalRun } from '../execution/local-run.js';
import type { Origin } from '../execution/origin.js';
import type { PreparedRun } from '../execution/prepared-run.js';
import type { RunInputs } from '../execution/run-inputs.js';
import type { RunWork } from '../execution/run-work.js';
import type { Outcome } from '../execution/task-work.js';
import type { Pipeline } from '../pipelines/pipeline.js';

/** Reuses the outputs of all tasks that succeeded. */
export const FROM_FAILED = 'failed';

/** What a rerun takes over of a settled run of a pipeline (D35). */
export interface Rerun {
  readonly run: RunInputs;
  readonly origin: Origin;
}

/**
 * The same run once more, with what it was given then.
 *
 * @param from undefined runs every task again; `failed` only those that have not succeeded; the id of a task that
 * task, what depends on it, and what has not succeeded
 * @throws WavetrainError `run_not_settled`, `nothing_to_rerun` or `invalid_request`
 */
export function rerunOf(run: LocalRun, from: string | undefined): Rerun {
  const { id, prepared } = run;
  mustBeSettled(run);
  const { pipeline, params, inputs, session, given, collectEvents, tenantId } = prepared;
  return {
    run: {
      pipeline,
      params,
      inputs,
      session,
      options: given,
      collect_events: collectEvents,
      tenant_id: tenantId,
    },
    origin: { runId: id, outcomes: reusable(prepared, run.work, again(run, from)) },
  };
}

/** @throws WavetrainError `run_not_settled` */
export function mustBeSettled({ id, isSettled, status }: ActorRun): void {
  if (isSettled) return;
  const what = status === 'queued' ? 'waits to begin' : 'is still at work';
  throw new WavetrainError('run_not_settled', `run ${id} ${what}: wait for it, or cancel it`);
}

/** The tasks that run again whatever they produced. */
function again(run: LocalRun, from: string | undefined): ReadonlySet<string> {
  const { pipeline } = run.prepared;
  if (from === undefined) return new Set(pipeline.tasks.keys());
  if (from === FROM_FAILED) {
    if (run.status === 'succeeded') throw nothingToRerun(run.id, 'a task');
    return new Set();
  }
  if (!pipeline.tasks.has(from)) {
    const known = [...pipeline.tasks.keys()].slice(0, 20).join(', ');
    throw new WavetrainError('invalid_request', `the pipeline has no task "${from}"; its tasks are ${known}`);
  }
  return withDependents(from, pipeline);
}

/** `nothing_to_rerun` */
export function nothingToRerun(runId: string, what: string): WavetrainError {
  return new WavetrainError('nothing_to_rerun', `run ${runId} succeeded: name ${what}, or rerun all of it`);
}

function withDependents(taskId: string, { waves, tasks }: Pipeline): Set<string> {
  const found = new Set([taskId]);
  for (const id of waves.flat()) {
    if (tasks.get(id)?.upstream.some((upstream) => found.has(upstream))) found.add(id);
  }
  return found;
}

/**
 * The outcomes that stand in for calling tools again.
 *
 * @param work of the run, if it came to begin
 */
export function reusable(
  { pipeline, origin }: PreparedRun,
  work: RunWork | undefined,
  again: ReadonlySet<string>,
): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const taskId of pipeline.tasks.keys()) {
    if (again.has(taskId)) continue;
    // A rerun that ended early has not come to publish all that it would have reused.
    const outcome = work?.outcomeOf(taskId) ?? origin?.outcomes.get(taskId);
    if (outcome !== undefined) outcomes.set(taskId, outcome);
  }
  return outcomes;
}
