import { WavetrainError } from '../../common/errors.js';
import { type JsonObject, setOwn } from '../../common/json/json.js';
import { MAX_RERUN_VALUES } from '../../common/limits.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { ReadablePipelineRun, ReadablePlanRun, ReadableRun } from '../../execution/run/readable-run.js';
import { preparePlan } from '../../execution/prepare/prepare-plan.js';
import {
  freezeInSteps,
  hasLongValues,
  prepareRun,
  type WithSubmittedKeys,
} from '../../execution/prepare/prepare-run.js';
import type { RerunSource } from '../../execution/prepare/rerun-source.js';
import type { PlanInputs, RunInputs } from '../../execution/prepare/run-inputs.js';
import type { SecretSource } from '../../definition/secrets/run-secrets.js';
import type { RequestedRun } from '../run-factory.js';
import type { DefinitionOfRun } from '../views/whole-definition.js';
import { describeRerun, hasRunningTask, type RerunReport } from './rerun-report.js';
import {
  assertPart,
  findForced,
  forceInPart,
  type FromFailed,
  graphOf,
  namedItems,
  readStart,
  type RerunGraph,
  type RerunStart,
  startWithin,
} from './rerun-start.js';
import { collectRerunSource } from './collect-rerun-source.js';

/** The differences between a rerun and the run that it repeats (D60). */
export interface RerunChanges
  extends Pick<RunInputs, 'params' | 'inputs' | 'session' | 'options' | 'labels'>,
    Pick<PlanInputs, 'plan_concurrency'> {
  /** A changed definition, for the run of a pipeline. Values are merged over the earlier ones, key by key. */
  readonly pipeline?: RunInputs['pipeline'];
  /** A changed definition, for the run of a plan. */
  readonly plan?: PlanInputs['plan'];
  /** The text that the changed definition was read from. */
  readonly submitted_text?: string | undefined;
}

export interface RerunRequest extends RerunChanges {
  /**
   * `failed` runs what has not succeeded; the id of a task (of a plan: of a sub-pipeline, or `SUB_PIPELINE/TASK`) runs that
   * one, everything that depends on it, and everything that has not succeeded. `TASK[22]` or `TASK[3,7-9]` runs only these
   * items of a fan-out. Undefined runs everything, or with changes is like `failed`.
   * Everything that was changed runs in any case.
   */
  readonly from?: string | undefined;
  /** The same definition, checked with other tools than those of the run. No change: its tasks alone may differ. */
  readonly rechecked?: DefinitionOfRun | undefined;
}

/** The values with which a changed definition is checked. */
export interface RerunValues {
  readonly inputs: JsonObject;
  readonly session: JsonObject;
}

/**
 * Prepares a rerun of a settled run with the same values, but for the changes (D35, D60), in steps.
 *
 * @throws WavetrainError `run_not_settled`, `nothing_to_rerun`, `invalid_request`, and as `prepareRun`
 */
export function* prepareRerun(
  run: ReadableRun,
  request: RerunRequest,
  secrets?: SecretSource,
): Steps<RequestedRun> {
  assertSettled(run);
  assertChangesFit(run, request);
  const rerun = yield* freezeLongValues(
    yield* run.kind === 'plan' ? preparePlanRerun(run, request) : preparePipelineRerun(run, request),
  );
  if (!hasChanges(request)) return rerun;
  if (run.status === 'succeeded') yield* assertRuns(run.id, rerun, secrets);
  return rerun;
}

function* freezeLongValues(rerun: RequestedRun): Steps<RequestedRun> {
  if (!hasLongValues(rerun.inputs)) return rerun;
  return rerun.kind === 'plan'
    ? { ...rerun, inputs: yield* freezeInSteps(rerun.inputs) }
    : { ...rerun, inputs: yield* freezeInSteps(rerun.inputs) };
}

/** @throws WavetrainError `nothing_to_rerun` when no task is, and none reads, anything that has changed */
function* assertRuns(id: string, rerun: RequestedRun, secrets?: SecretSource): Steps<void> {
  const prepared = prepareAgain(id, rerun, secrets);
  if (yield* hasRunningTask(prepared)) return;
  const message = `run ${id} succeeded, and nothing that its tasks are or read has changed: name a task in "from", or rerun it without changes`;
  throw new WavetrainError('nothing_to_rerun', message);
}

function prepareAgain(id: string, rerun: RequestedRun, secrets?: SecretSource): ReadableRun['prepared'] {
  return rerun.kind === 'plan'
    ? preparePlan(rerun.inputs, rerun.source, undefined, id, secrets)
    : prepareRun(rerun.inputs, rerun.source, undefined, id, secrets);
}

/**
 * Describes what a rerun would do, in steps.
 *
 * @param hold takes the memory that the rerun would take before it begins, in bytes
 * @throws WavetrainError as `prepareRerun`, `prepareRun` and `hold`
 */
export function* previewRerun(
  run: ReadableRun,
  request: RerunRequest,
  secrets: SecretSource | undefined,
  hold: (bytes: number) => void,
): Steps<RerunReport> {
  const prepared = prepareAgain(run.id, yield* prepareRerun(run, request, secrets), secrets);
  hold(prepared.sizeBytes);
  return yield* describeRerun(prepared);
}

/** @throws WavetrainError `run_not_settled` */
export function assertSettled({ id, isSettled, status }: ReadableRun): void {
  if (isSettled) return;
  const state = status === 'queued' ? 'is still queued' : 'still has tasks running';
  throw new WavetrainError('run_not_settled', `run ${id} ${state}: wait until it settles, or cancel it`);
}

/** @throws WavetrainError `invalid_request` for changes of the other kind of run */
function assertChangesFit({ id, kind }: ReadableRun, changes: RerunChanges): void {
  const misplaced =
    kind === 'plan' ? (['pipeline', 'params'] as const) : (['plan', 'plan_concurrency'] as const);
  for (const field of misplaced) {
    if (changes[field] === undefined) continue;
    const message = `run ${id} belongs to a ${kind}: a rerun of it cannot have "${field}"`;
    throw new WavetrainError('invalid_request', message);
  }
}

/** Returns true when a rerun brings anything but `from` and labels. */
function hasChanges({
  from: _,
  submitted_text: __,
  labels: ___,
  rechecked: ____,
  ...changes
}: RerunRequest): boolean {
  return Object.values(changes).some((change) => change !== undefined);
}

/** The inputs and session values that a changed definition is checked and run with. */
export function* mergeValues(
  { prepared }: ReadableRun,
  { inputs, session }: RerunChanges,
  isRedefined = true,
): Steps<RerunValues> {
  return {
    inputs: yield* merge(prepared.inputs, inputs, isRedefined ? prepared.submittedKeys.inputs : undefined),
    session: yield* merge(prepared.session, session),
  };
}

/** Merges the changes into the values that reruns of pipelines and of plans take over alike. */
function* mergeCommon(
  run: ReadableRun,
  request: RerunRequest,
): Steps<
  Pick<
    RunInputs,
    'submitted_text' | 'inputs' | 'session' | 'options' | 'labels' | 'collect_events' | 'tenant_id'
  > &
    WithSubmittedKeys
> {
  const { submittedKeys, submittedText, submittedOptions, submittedLabels, collectEvents, tenantId } =
    run.prepared;
  const labels = request.labels === undefined ? submittedLabels : { ...submittedLabels, ...request.labels };
  const isRedefined = request.pipeline !== undefined || request.plan !== undefined;
  return {
    ...(yield* mergeValues(run, request, isRedefined)),
    submitted_text: isRedefined ? request.submitted_text : submittedText,
    options: { ...submittedOptions, ...request.options },
    ...(labels && { labels }),
    collect_events: collectEvents,
    tenant_id: tenantId,
    submittedKeys: {
      params: mergeKeys(submittedKeys.params, request.params),
      inputs: mergeKeys(submittedKeys.inputs, request.inputs),
    },
  };
}

function mergeKeys(keys: readonly string[], changes: JsonObject = {}): readonly string[] {
  return [...new Set([...keys, ...Object.keys(changes)])];
}

function* preparePipelineRerun(run: ReadablePipelineRun, request: RerunRequest): Steps<RequestedRun> {
  const { prepared } = run;
  const { rechecked } = request;
  const again = rechecked !== undefined && 'pipeline' in rechecked ? rechecked.pipeline : undefined;
  const pipeline = request.pipeline ?? again ?? prepared.pipeline;
  const params = yield* merge(keepParams(run, pipeline), request.params);
  assertNoHandler(request, pipeline.handlers);
  const graph = graphOf(pipeline);
  const start = findStart(run, request, graph);
  const named = namedItems(start, pipeline);
  const options = {
    forced: findForced(start, graph, named),
    named,
    changedKeys: new Set<string>(),
    ...sourceOptions(request),
  };
  return {
    kind: 'pipeline',
    inputs: { pipeline, params, ...(yield* mergeCommon(run, request)) },
    source: yield* collectRerunSource(run.id, prepared, run.work, pipeline, options),
  };
}

function* preparePlanRerun(run: ReadablePlanRun, request: RerunRequest): Steps<RequestedRun> {
  const { plan: earlier, subRuns: prepared, concurrency } = run.prepared;
  const { rechecked } = request;
  const again = rechecked !== undefined && 'plan' in rechecked ? rechecked.plan : undefined;
  const plan = request.plan ?? again ?? earlier;
  const wasDefault = concurrency === (earlier.definition.plan_concurrency ?? 1);
  const chosen = request.plan_concurrency ?? (wasDefault ? undefined : concurrency);
  const { subPipelines, statistics, handlers } = plan;
  assertNoHandler(request, handlers?.handlers);
  const graph: RerunGraph = {
    kind: 'plan',
    ids: [...subPipelines.keys()],
    order: statistics.order,
    dependencies: (id) => subPipelines.get(id)?.needs ?? [],
  };
  const start = findStart(run, request, graph);
  const forced = findForced(start, graph);
  const changedKeys = new Set<string>();
  const subRuns = new Map<string, RerunSource>();
  for (const { id, pipeline } of subPipelines.values()) {
    const within = startWithin(start, id);
    const options = {
      forced: forceInPart(pipeline, id, within, forced.get(id)),
      named: within && namedItems(within, pipeline),
      changedKeys,
      ...sourceOptions(request),
    };
    const work = run.subRuns.begun.get(id)?.work;
    subRuns.set(id, yield* collectRerunSource(run.id, prepared.get(id), work, pipeline, options));
  }
  return {
    kind: 'plan',
    inputs: {
      plan,
      ...(yield* mergeCommon(run, request)),
      ...(chosen !== undefined && { plan_concurrency: chosen }),
    },
    source: { runId: run.id, subRuns },
    earlier,
  };
}

/** @throws WavetrainError `invalid_request` for a rerun from a handler */
function assertNoHandler(
  request: RerunRequest,
  handlers: ReadablePipelineRun['prepared']['pipeline']['handlers'],
): void {
  const from = readFrom(request);
  if (from === undefined || handlers?.tasks.has(from) !== true) return;
  throw new WavetrainError('invalid_request', `"${from}" is a handler: handlers run in every rerun`);
}

function sourceOptions(request: RerunRequest): { isChanged: boolean; rerunsFailedItems: boolean } {
  const isChanged = hasChanges(request) || request.rechecked !== undefined;
  return { isChanged, rerunsFailedItems: readFrom(request) === FROM_FAILED };
}

const FROM_FAILED: FromFailed = 'failed';

/** Returns the part from which a rerun starts; undefined when everything runs again. */
function readFrom(request: RerunRequest): string | undefined {
  return request.from ?? (hasChanges(request) ? FROM_FAILED : undefined);
}

/**
 * Reads where a rerun starts.
 *
 * @throws WavetrainError `nothing_to_rerun` or `invalid_request`
 */
function findStart(run: ReadableRun, request: RerunRequest, graph: RerunGraph): RerunStart {
  const { id, kind, status, failures } = run;
  const start = readStart(readFrom(request), kind, new Set(graph.ids));
  if (start.kind === 'part') assertPart(start.part, graph);
  if (start.kind !== 'failed' || status !== 'succeeded' || failures.length > 0 || hasChanges(request))
    return start;
  const part = kind === 'plan' ? 'sub-pipeline' : 'task';
  const message = `run ${id} succeeded: name a ${part}, or rerun the whole ${kind}`;
  throw new WavetrainError('nothing_to_rerun', message);
}

/**
 * The params that a rerun takes over from the earlier run. Of a changed definition it takes the defaults, and it has no
 * use for values of params that are gone.
 */
function keepParams({ prepared }: ReadablePipelineRun, pipeline: RunInputs['pipeline']): JsonObject {
  const { params, pipeline: earlier, submittedKeys } = prepared;
  if (pipeline === earlier) return params;
  const declared = pipeline.definition.params ?? {};
  const kept: JsonObject = {};
  for (const name of submittedKeys.params)
    if (Object.hasOwn(declared, name)) setOwn(kept, name, params[name]);
  return kept;
}

const VALUES_PER_STEP = 500;

/**
 * Merges changes over the values of the earlier run, in steps: those of a chain of reruns add up.
 *
 * @param keys of the earlier values that are taken over; default: all
 * @throws WavetrainError `invalid_inputs` when there are too many
 */
function* merge(
  earlier: JsonObject,
  changes: JsonObject | undefined,
  keys?: readonly string[],
): Steps<JsonObject> {
  if (changes === undefined && keys === undefined) return earlier;
  const merged: JsonObject = {};
  let count = 0;
  for (const [values, names] of [
    [earlier, keys ?? Object.keys(earlier)],
    [changes ?? {}, Object.keys(changes ?? {})],
  ] as const) {
    for (const name of names) {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined) continue;
      if (!Object.hasOwn(merged, name) && ++count > MAX_RERUN_VALUES) throw tooManyValues();
      setOwn(merged, name, value);
      if (count % VALUES_PER_STEP === 0) yield;
    }
  }
  return merged;
}

function tooManyValues(): WavetrainError {
  const message = `a rerun can have at most ${MAX_RERUN_VALUES} inputs and as many session values, with those of the run that it repeats: submit a run of its own`;
  return new WavetrainError('invalid_inputs', message);
}
