import type { Clock } from '../common/clock.js';
import { WavetrainError } from '../common/errors.js';
import type { JsonObject } from '../common/json.js';
import type { Steps } from '../common/steps.js';
import { joinFirst } from '../common/text.js';
import type { AnyRun, LocalExecutor } from '../execution/local-executor.js';
import type { PlanRun } from '../execution/plan/plan-run.js';
import { preparePlan } from '../execution/prepare/prepare-plan.js';
import { freezeInSteps, hasLongValues, mergeInputs, prepareRun } from '../execution/prepare/prepare-run.js';
import { isEqualJson, type PlanRerunSource, type RerunSource } from '../execution/prepare/rerun-source.js';
import type { BaseRun } from '../execution/run/base-run.js';
import type { PipelineRun } from '../execution/run/pipeline-run.js';
import type { PlanInputs, RunInputs } from '../execution/run-inputs.js';
import { describeRerun } from './rerun-report.js';
import { createSource } from './rerun-source.js';

/** What a rerun does differently from the run that it repeats (D60). */
export interface RerunChanges
  extends Pick<RunInputs, 'params' | 'inputs' | 'session' | 'options'>,
    Pick<PlanInputs, 'plan_concurrency'> {
  /** A changed definition, for the run of a pipeline. Values are merged over the earlier ones, key by key. */
  readonly pipeline?: RunInputs['pipeline'];
  /** A changed definition, for the run of a plan. */
  readonly plan?: PlanInputs['plan'];
}

export interface RerunRequest extends RerunChanges {
  /**
   * `failed` runs what has not succeeded; the id of a task (of a plan: of a sub-pipeline) runs that one, everything that
   * depends on it, and everything that has not succeeded. Undefined runs everything, or with changes is like `failed`.
   * Whatever was changed runs in any case.
   */
  readonly from?: string | undefined;
}

/** The run that a rerun will be: values that are not checked yet, and what it can reuse. */
export type Rerun =
  | { readonly kind: 'pipeline'; inputs: RunInputs; readonly source: RerunSource }
  | { readonly kind: 'plan'; inputs: PlanInputs; readonly source: PlanRerunSource };

/** What a changed definition is checked with. */
export interface RerunValues {
  readonly kind: AnyRun['kind'];
  readonly inputs: JsonObject;
  readonly session: JsonObject;
}

/**
 * Prepares a rerun of a settled run with the same values, but for the changes (D35, D60).
 *
 * @throws WavetrainError `run_not_settled`, `nothing_to_rerun` or `invalid_request`
 */
export function prepareRerun(run: AnyRun, request: RerunRequest): Rerun {
  assertSettled(run);
  assertChangesFit(run, request);
  return run.kind === 'plan' ? preparePlanRerun(run, request) : preparePipelineRerun(run, request);
}

/**
 * Freezes the values of a rerun with changes, and checks that it has something to do, in steps.
 *
 * @throws WavetrainError `nothing_to_rerun` when nothing has changed that the tasks of a run that succeeded are or read,
 * and as `prepareRun`
 */
export function* checkRerun({ id, status }: BaseRun, rerun: Rerun, clock: Clock): Steps<void> {
  if (hasLongValues(rerun.inputs)) rerun.inputs = yield* freezeInSteps(rerun.inputs);
  if (status !== 'succeeded') return;
  const prepared =
    rerun.kind === 'plan'
      ? preparePlan(rerun.inputs, rerun.source, undefined, clock)
      : prepareRun(rerun.inputs, rerun.source, undefined, clock);
  const { runs } = yield* describeRerun(prepared);
  if (runs.length > 0) return;
  const message = `run ${id} succeeded, and nothing that its tasks are or read has changed: name a task in "from", or rerun it without changes`;
  throw new WavetrainError('nothing_to_rerun', message);
}

/** Creates the run of a rerun, queued. Throws as `createRun`. */
export function createRerun(executor: LocalExecutor, rerun: Rerun): AnyRun {
  return rerun.kind === 'plan'
    ? executor.createPlanRun(rerun.inputs, rerun.source)
    : executor.createRun(rerun.inputs, rerun.source);
}

/** @throws WavetrainError `run_not_settled` */
export function assertSettled({ id, isSettled, status }: BaseRun): void {
  if (isSettled) return;
  const state = status === 'queued' ? 'is still queued' : 'still has tasks running';
  throw new WavetrainError('run_not_settled', `run ${id} ${state}: wait until it settles, or cancel it`);
}

/** @throws WavetrainError `invalid_request` for changes of the other kind of run */
function assertChangesFit({ id, kind }: BaseRun, changes: RerunChanges): void {
  const misplaced =
    kind === 'plan' ? (['pipeline', 'params'] as const) : (['plan', 'plan_concurrency'] as const);
  for (const field of misplaced) {
    if (changes[field] === undefined) continue;
    const message = `run ${id} belongs to a ${kind}: a rerun of it cannot have "${field}"`;
    throw new WavetrainError('invalid_request', message);
  }
}

/** Whether a rerun brings anything but `from`. */
export function hasChanges({ from: _, ...changes }: RerunRequest): boolean {
  return Object.values(changes).some((change) => change !== undefined);
}

/** The inputs and session values that a changed definition is checked and run with. */
export function mergeValues(
  { prepared }: AnyRun,
  { inputs, session }: RerunChanges,
): Omit<RerunValues, 'kind'> {
  const { definition } = 'plan' in prepared ? prepared.plan : prepared.pipeline;
  return {
    inputs: merge(omitDefaults(prepared.inputs, definition.inputs ?? {}), inputs),
    session: merge(prepared.session, session),
  };
}

/** What reruns of pipelines and of plans take over, with the changes. */
function mergeCommon(
  run: AnyRun,
  request: RerunRequest,
): Pick<RunInputs, 'inputs' | 'session' | 'options' | 'collect_events' | 'tenant_id'> {
  const { inputs, session, submittedOptions, collectEvents, tenantId } = run.prepared;
  const isMended = request.pipeline !== undefined || request.plan !== undefined;
  const values = isMended
    ? mergeValues(run, request)
    : { inputs: merge(inputs, request.inputs), session: merge(session, request.session) };
  const options = { ...submittedOptions, ...request.options };
  return { ...values, options, collect_events: collectEvents, tenant_id: tenantId };
}

function preparePipelineRerun(run: PipelineRun, request: RerunRequest): Rerun {
  const { prepared } = run;
  const pipeline = request.pipeline ?? prepared.pipeline;
  const params = merge(keepParams(run, pipeline), request.params);
  const { tasks, waves } = pipeline;
  const forced = partsToRerun(run, request, {
    ids: [...tasks.keys()],
    order: waves.flat(),
    dependencies: (id) => tasks.get(id)?.upstream ?? [],
  });
  const options = { forced, changedKeys: new Set<string>(), ...sourceOptions(request) };
  return {
    kind: 'pipeline',
    inputs: { pipeline, params, ...mergeCommon(run, request) },
    source: createSource(run.id, prepared, run.work, pipeline, options),
  };
}

function preparePlanRerun(run: PlanRun, request: RerunRequest): Rerun {
  const { plan: earlier, subRuns: prepared, concurrency } = run.prepared;
  const plan = request.plan ?? earlier;
  const wasDefault = concurrency === (earlier.definition.plan_concurrency ?? 1);
  const chosen = request.plan_concurrency ?? (wasDefault ? undefined : concurrency);
  const { subPipelines, statistics } = plan;
  const forced = partsToRerun(run, request, {
    ids: [...subPipelines.keys()],
    order: statistics.order,
    dependencies: (id) => subPipelines.get(id)?.needs ?? [],
  });
  const changedKeys = new Set<string>();
  const subRuns = new Map<string, RerunSource>();
  for (const { id, pipeline } of subPipelines.values()) {
    const reason = forced.get(id);
    const forcedTasks = reason === undefined ? [] : [...pipeline.tasks.keys()];
    const tasks = new Map(forcedTasks.map((task) => [task, `is part of "${id}", which ${reason}`]));
    const options = { forced: tasks, changedKeys, ...sourceOptions(request) };
    const work = run.subRuns.begun.get(id)?.work;
    subRuns.set(id, createSource(run.id, prepared.get(id), work, pipeline, options));
  }
  return {
    kind: 'plan',
    inputs: {
      plan,
      ...mergeCommon(run, request),
      ...(chosen !== undefined && { plan_concurrency: chosen }),
    },
    source: { runId: run.id, subRuns },
  };
}

function sourceOptions(request: RerunRequest): { isChanged: boolean; rerunsFailedItems: boolean } {
  return { isChanged: hasChanges(request), rerunsFailedItems: readFrom(request) === FROM_FAILED };
}

/** The tasks of a pipeline, or the sub-pipelines of a plan. */
interface Parts {
  /** In declared order. */
  readonly ids: readonly string[];
  /** Each after its dependencies. */
  readonly order: readonly string[];
  readonly dependencies: (id: string) => readonly string[];
}

/** The value of `from` that reuses the outputs of all tasks that succeeded. */
const FROM_FAILED = 'failed';

/** What a rerun starts from; undefined when everything runs again. */
function readFrom(request: RerunRequest): string | undefined {
  return request.from ?? (hasChanges(request) ? FROM_FAILED : undefined);
}

/** Maximum number of ids in an error message. */
const MAX_LISTED_PARTS = 20;

/**
 * Selects the parts that run again even if they succeeded and were not changed, with the reason.
 *
 * @throws WavetrainError `nothing_to_rerun` or `invalid_request`
 */
function partsToRerun(run: BaseRun, request: RerunRequest, parts: Parts): ReadonlyMap<string, string> {
  const { id, kind, status, failures } = run;
  const part = kind === 'plan' ? 'sub-pipeline' : 'task';
  const from = readFrom(request);
  if (from === undefined) {
    const reason = 'runs, as everything does without "from" and changes';
    return new Map(parts.ids.map((partId) => [partId, reason]));
  }
  if (from === FROM_FAILED) {
    if (status !== 'succeeded' || failures.length > 0 || hasChanges(request)) return new Map();
    const message = `run ${id} succeeded: name a ${part}, or rerun the whole ${kind}`;
    throw new WavetrainError('nothing_to_rerun', message);
  }
  if (parts.ids.includes(from)) return withDependents(from, parts);
  const message = `the ${kind} has no ${part} "${from}"; its ${part}s are ${joinFirst(parts.ids, MAX_LISTED_PARTS)}`;
  throw new WavetrainError('invalid_request', message);
}

/** A part and everything that depends on it, directly or indirectly. */
function withDependents(id: string, { order, dependencies }: Parts): ReadonlyMap<string, string> {
  const found = new Map([[id, 'is named in "from"']]);
  for (const other of order) {
    if (!found.has(other) && dependencies(other).some((needed) => found.has(needed))) {
      found.set(other, `depends on "${id}", which is named in "from"`);
    }
  }
  return found;
}

/**
 * The params that a rerun takes over from the earlier run. Of a changed definition it takes the defaults, and it has no
 * use for values of params that are gone.
 */
function keepParams({ prepared }: PipelineRun, pipeline: RunInputs['pipeline']): JsonObject {
  const { params, pipeline: earlier } = prepared;
  if (pipeline === earlier) return params;
  const declared = pipeline.definition.params ?? {};
  const defaults = Object.entries(earlier.definition.params ?? {}).map(([name, param]) => [
    name,
    param.default,
  ]);
  const submitted = omitDefaults(params, Object.fromEntries(defaults) as Record<string, unknown>);
  return Object.fromEntries(Object.entries(submitted).filter(([name]) => Object.hasOwn(declared, name)));
}

/** Leaves out what a run was not given, but had from its definition. */
function omitDefaults(values: JsonObject, defaults: Record<string, unknown>): JsonObject {
  const submitted = Object.entries(values).filter(
    ([key, value]) => !Object.hasOwn(defaults, key) || !isEqualJson(value, defaults[key] as JsonObject),
  );
  return Object.fromEntries(submitted);
}

function merge(earlier: JsonObject, changes: JsonObject | undefined): JsonObject {
  return changes === undefined ? earlier : (mergeInputs(earlier, changes) as JsonObject);
}
