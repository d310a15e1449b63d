import { WavetrainError } from '../common/errors.js';
import type { AnyRun, LocalExecutor } from '../execution/local-executor.js';
import type { PlanRun } from '../execution/plan/plan-run.js';
import type { PreparedRun, RerunSource } from '../execution/prepare/prepare-run.js';
import type { BaseRun } from '../execution/run/base-run.js';
import type { PipelineRun } from '../execution/run/pipeline-run.js';
import type { RunWork } from '../execution/run/run-work.js';
import type { TaskOutcome } from '../execution/results.js';

/** Creates a run that is queued. May throw. */
export type CreateRun = () => AnyRun;

/** The value of `from` that reuses the outputs of all tasks that succeeded. */
const FROM_FAILED = 'failed';

/**
 * Prepares a rerun of a settled run with the same inputs, session values and options (D35).
 *
 * @param from undefined runs everything again; `failed` only tasks that have not succeeded; the id of a task (of a
 * plan: of a sub-pipeline) runs that one, everything that depends on it, and everything that has not succeeded
 * @throws WavetrainError `run_not_settled`, `nothing_to_rerun` or `invalid_request`
 */
export function prepareRerun(executor: LocalExecutor, run: AnyRun, from: string | undefined): CreateRun {
  assertSettled(run);
  const { inputs, session, submittedOptions, collectEvents, tenantId } = run.prepared;
  const submitted = {
    inputs,
    session,
    options: submittedOptions,
    collect_events: collectEvents,
    tenant_id: tenantId,
  };
  if (run.kind === 'plan') {
    const { plan, concurrency } = run.prepared;
    const planInputs = { plan, plan_concurrency: concurrency, ...submitted };
    const source = { runId: run.id, subRuns: reusableSubRuns(run, from) };
    return () => executor.createPlanRun(planInputs, source);
  }
  const { pipeline, params } = run.prepared;
  const runInputs = { pipeline, params, ...submitted };
  const source = {
    runId: run.id,
    outcomes: reusableOutcomes(run.prepared, run.work, tasksToRerun(run, from)),
  };
  return () => executor.createRun(runInputs, source);
}

/** @throws WavetrainError `run_not_settled` */
export function assertSettled({ id, isSettled, status }: BaseRun): void {
  if (isSettled) return;
  const state = status === 'queued' ? 'is still queued' : 'still has tasks running';
  throw new WavetrainError('run_not_settled', `run ${id} ${state}: wait until it settles, or cancel it`);
}

/** The tasks that run again even if they succeeded. */
function tasksToRerun(run: PipelineRun, from: string | undefined): ReadonlySet<string> {
  const { tasks, waves } = run.prepared.pipeline;
  return partsToRerun(run, from, {
    ids: [...tasks.keys()],
    order: waves.flat(),
    dependencies: (id) => tasks.get(id)?.upstream ?? [],
  });
}

/** The sub-pipelines that run again even if they succeeded. */
function subPipelinesToRerun(run: PlanRun, from: string | undefined): ReadonlySet<string> {
  const { subPipelines, statistics } = run.prepared.plan;
  return partsToRerun(run, from, {
    ids: [...subPipelines.keys()],
    order: statistics.order,
    dependencies: (id) => subPipelines.get(id)?.needs ?? [],
  });
}

/** The tasks of a pipeline, or the sub-pipelines of a plan. */
interface Parts {
  /** In declared order. */
  readonly ids: readonly string[];
  /** Each after its dependencies. */
  readonly order: readonly string[];
  readonly dependencies: (id: string) => readonly string[];
}

/**
 * Selects the parts that run again even if they succeeded: undefined selects all; `failed` selects none; an id selects
 * that part and everything that depends on it, directly or indirectly.
 *
 * @throws WavetrainError `nothing_to_rerun` or `invalid_request`
 */
function partsToRerun(
  { id, kind, status }: BaseRun,
  from: string | undefined,
  parts: Parts,
): ReadonlySet<string> {
  const { ids } = parts;
  const part = kind === 'plan' ? 'sub-pipeline' : 'task';
  if (from === undefined) return new Set(ids);
  if (from === FROM_FAILED) {
    if (status !== 'succeeded') return new Set();
    const message = `run ${id} succeeded: name a ${part}, or rerun the whole ${kind}`;
    throw new WavetrainError('nothing_to_rerun', message);
  }
  if (ids.includes(from)) return withDependents(from, parts);
  const message = `the ${kind} has no ${part} "${from}"; its ${part}s are ${ids.slice(0, 20).join(', ')}`;
  throw new WavetrainError('invalid_request', message);
}

function withDependents(id: string, { order, dependencies }: Parts): Set<string> {
  const found = new Set([id]);
  for (const other of order) if (dependencies(other).some((needed) => found.has(needed))) found.add(other);
  return found;
}

/**
 * The outcomes that the rerun publishes instead of calling tools again.
 *
 * @param work undefined when the run never started
 */
function reusableOutcomes(
  { pipeline, rerunSource }: PreparedRun,
  work: RunWork | undefined,
  toRerun: ReadonlySet<string>,
): Map<string, TaskOutcome> {
  const outcomes = new Map<string, TaskOutcome>();
  for (const taskId of pipeline.tasks.keys()) {
    if (toRerun.has(taskId)) continue;
    // A rerun that ended early has not published all the outcomes that it would have reused.
    const outcome = work?.getOutcome(taskId) ?? rerunSource?.outcomes.get(taskId);
    if (outcome !== undefined) outcomes.set(taskId, outcome);
  }
  return outcomes;
}

function reusableSubRuns(run: PlanRun, from: string | undefined): Map<string, RerunSource> {
  const toRerun = subPipelinesToRerun(run, from);
  const sources = new Map<string, RerunSource>();
  for (const [subPipelineId, prepared] of run.prepared.subRuns) {
    if (toRerun.has(subPipelineId)) continue;
    const work = run.subRuns.begun.get(subPipelineId)?.work;
    sources.set(subPipelineId, { runId: run.id, outcomes: reusableOutcomes(prepared, work, new Set()) });
  }
  return sources;
}
