import { WavetrainError } from '../common/errors.js';
import type { Origin, PreparedRun } from '../execution/prepare/prepared-run.js';
import type { RunInputs } from '../execution/run-inputs.js';
import type { ActorRun } from '../execution/run/base-run.js';
import type { LocalRun } from '../execution/run/pipeline-run.js';
import type { RunWork } from '../execution/run/run-work.js';
import type { Outcome } from '../execution/run/task-work.js';
import { whichAgain } from './which-again.js';

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
    origin: { runId: id, outcomes: reusable(prepared, run.work, tasksToRerun(run, from)) },
  };
}

/** @throws WavetrainError `run_not_settled` */
export function mustBeSettled({ id, isSettled, status }: ActorRun): void {
  if (isSettled) return;
  const what = status === 'queued' ? 'waits to begin' : 'is still at work';
  throw new WavetrainError('run_not_settled', `run ${id} ${what}: wait for it, or cancel it`);
}

/** The tasks that run again whatever they produced. */
function tasksToRerun(run: LocalRun, from: string | undefined): ReadonlySet<string> {
  const { tasks, waves } = run.prepared.pipeline;
  return whichAgain(run, from, {
    whole: 'pipeline',
    part: 'task',
    ids: [...tasks.keys()],
    order: waves.flat(),
    needs: (id) => tasks.get(id)?.upstream ?? [],
  });
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
