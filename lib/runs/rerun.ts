import { WavetrainError } from '../common/errors.js';
import type { AnyRun, LocalExecutor } from '../execution/local-executor.js';
import type { PlanRun } from '../execution/plan/plan-run.js';
import type { Origin, PlanOrigin, PreparedRun } from '../execution/prepare/prepared-run.js';
import type { PlanInputs, RunInputs } from '../execution/run-inputs.js';
import type { ActorRun } from '../execution/run/base-run.js';
import type { LocalRun } from '../execution/run/pipeline-run.js';
import type { RunWork } from '../execution/run/run-work.js';
import type { Outcome } from '../execution/run/task-work.js';

/** What a rerun takes over of a settled run of a pipeline (D35). */
interface Rerun {
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
function reusable(
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

/** What a rerun takes over of a settled run of a plan (D35). */
interface PlanRerun {
  readonly run: PlanInputs;
  readonly origin: PlanOrigin;
}

/**
 * The same plan once more, with what it was given then.
 *
 * @param from undefined runs every sub-pipeline again; `failed` only tasks that have not succeeded; the id of a
 * sub-pipeline that one, those that read from it, and what has not succeeded
 * @throws WavetrainError `run_not_settled`, `nothing_to_rerun` or `invalid_request`
 */
function planRerunOf(run: PlanRun, from: string | undefined): PlanRerun {
  const { id, prepared } = run;
  mustBeSettled(run);
  const { plan, inputs, session, given, concurrency, collectEvents, tenantId } = prepared;
  return {
    run: {
      plan,
      inputs,
      session,
      options: given,
      plan_concurrency: concurrency,
      collect_events: collectEvents,
      tenant_id: tenantId,
    },
    origin: { runId: id, subRuns: originsOf(run, subPipelinesToRerun(run, from)) },
  };
}

/** The sub-pipelines that run again whatever they produced. */
function subPipelinesToRerun(run: PlanRun, from: string | undefined): ReadonlySet<string> {
  const { subPipelines, statistics } = run.prepared.plan;
  return whichAgain(run, from, {
    whole: 'plan',
    part: 'sub-pipeline',
    ids: [...subPipelines.keys()],
    order: statistics.order,
    needs: (id) => subPipelines.get(id)?.needs ?? [],
  });
}

function originsOf({ id, prepared, subRuns }: PlanRun, again: ReadonlySet<string>): Map<string, Origin> {
  const origins = new Map<string, Origin>();
  for (const [subPipelineId, subRun] of prepared.subRuns) {
    if (again.has(subPipelineId)) continue;
    const work = subRuns.begun.get(subPipelineId)?.work;
    origins.set(subPipelineId, { runId: id, outcomes: reusable(subRun, work, new Set()) });
  }
  return origins;
}

/** Reuses the outputs of all tasks that succeeded. */
const FROM_FAILED = 'failed';

/** What ran, part by part: the tasks of a pipeline, or the sub-pipelines of a plan. */
interface Parts {
  readonly whole: 'pipeline' | 'plan';
  readonly part: 'task' | 'sub-pipeline';
  /** In declared order. */
  readonly ids: readonly string[];
  /** Each after those that it needs. */
  readonly order: readonly string[];
  readonly needs: (id: string) => readonly string[];
}

/**
 * The parts that run again whatever they produced (D35).
 *
 * @param from undefined is all of them; `failed` none; the id of a part is that one and what needs it, near or far
 * @throws WavetrainError `nothing_to_rerun` or `invalid_request`
 */
function whichAgain(
  { id, status }: Pick<ActorRun, 'id' | 'status'>,
  from: string | undefined,
  parts: Parts,
): ReadonlySet<string> {
  const { whole, part, ids } = parts;
  if (from === undefined) return new Set(ids);
  if (from === FROM_FAILED) {
    if (status !== 'succeeded') return new Set();
    const message = `run ${id} succeeded: name a ${part}, or rerun all of it`;
    throw new WavetrainError('nothing_to_rerun', message);
  }
  if (ids.includes(from)) return withFollowers(from, parts);
  const known = ids.slice(0, 20).join(', ');
  throw new WavetrainError(
    'invalid_request',
    `the ${whole} has no ${part} "${from}"; its ${part}s are ${known}`,
  );
}

function withFollowers(id: string, { order, needs }: Parts): Set<string> {
  const found = new Set([id]);
  for (const other of order) if (needs(other).some((need) => found.has(need))) found.add(other);
  return found;
}

/** Makes a run when it is known what it takes in memory; `weigh` may throw. */
export type Accept = (weigh: (bytes: number) => void) => AnyRun;

/**
 * A settled run once more, of whichever kind it was (D35).
 *
 * @throws WavetrainError `run_not_settled`, `nothing_to_rerun` or `invalid_request`
 */
export function onceMore(executor: LocalExecutor, run: AnyRun, from: string | undefined): Accept {
  if (run.kind === 'plan') {
    const again = planRerunOf(run, from);
    return (weigh) => executor.acceptPlan(again.run, again.origin, weigh);
  }
  const again = rerunOf(run, from);
  return (weigh) => executor.accept(again.run, again.origin, weigh);
}
