import type { Blackboard } from '../session/blackboard.js';
import { MemoryBlackboard } from '../session/memory-blackboard.js';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import { runToEnd } from '../../common/scheduling/steps.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { Plan, SubPipeline } from '../../plans/plan.js';
import { RunSecrets, type SecretSource } from '../../definition/secrets/run-secrets.js';
import type { PlanInputs, RunInputs } from './run-inputs.js';
import {
  freezeValues,
  measureText,
  mergeInputs,
  pickInputs,
  type PreparedRun,
  prepareRun,
  readSubmittedKeys,
  readSubmittedText,
  readTenantId,
  RUN_BYTES,
  type WithSubmittedKeys,
} from './prepare-run.js';
import { measureLabels, mergeLabels } from './run-labels.js';
import { resolvePlanBreakpoints } from './breakpoints.js';
import type { PlanRerunSource } from './rerun-source.js';

/** Checked plan inputs, for the plan and for each of its sub-pipelines. */
export interface PreparedPlan
  extends Pick<
    PreparedRun,
    | 'id'
    | 'secrets'
    | 'tenantId'
    | 'inputs'
    | 'session'
    | 'submittedKeys'
    | 'submittedText'
    | 'labels'
    | 'submittedLabels'
    | 'submittedOptions'
    | 'sizeBytes'
    | 'collectEvents'
  > {
  readonly plan: Plan;
  /** Maximum number of sub-pipelines that run at once. */
  readonly concurrency: number;
  /** Number of waves of all sub-pipelines. */
  readonly waves: number;
  /** Number of tasks of all sub-pipelines. */
  readonly tasks: number;
  /** By sub-pipeline id, in declaration order. */
  readonly subRuns: ReadonlyMap<string, PreparedRun>;
  /** A run of the handlers alone (D80); undefined for a plan without them. */
  readonly handlers: PreparedRun | undefined;
  readonly blackboard: Blackboard;
  /** True when the blackboard was created for this run. */
  readonly ownsBlackboard: boolean;
  /** The run that this one repeats in part (D35). */
  readonly rerunSource: PlanRerunSource | undefined;
}

/** Lists the runs of a plan: of its sub-pipelines, and of its handlers. */
export function listSubRuns({ subRuns, handlers }: PreparedPlan): readonly PreparedRun[] {
  return handlers === undefined ? [...subRuns.values()] : [...subRuns.values(), handlers];
}

/** Checks the inputs of a plan run for all sub-pipelines: all may begin, or none. @throws WavetrainError as `prepareRun` */
export function preparePlan(
  run: PlanInputs & WithSubmittedKeys,
  rerunSource: PlanRerunSource | undefined,
  providedBlackboard: Blackboard | undefined,
  id: string,
  secretSource?: SecretSource,
): PreparedPlan {
  const { plan } = run;
  const inputs = freezeValues(
    'inputs',
    runToEnd(mergeInputs(plan.definition.inputs ?? {}, run.inputs ?? {})),
  );
  const session = freezeValues('session', run.session ?? {});
  const submittedText = readSubmittedText(run);
  const labels = mergeLabels(plan.definition.labels, run.labels);
  const blackboard = providedBlackboard ?? new MemoryBlackboard();
  const ownsBlackboard = providedBlackboard === undefined;
  const secrets = new RunSecrets(secretSource, readTenantId(run));
  const given = { ...run, inputs: inputs.json };
  const breakpointsOf = resolvePlanBreakpoints(plan, run.breakpoints);
  const subRuns = [...plan.subPipelines.values()].map((subPipeline): [string, PreparedRun] => {
    const prepared = prepareSubRun(subPipeline, given, rerunSource, blackboard, id, secrets);
    const breakpoints = breakpointsOf(subPipeline.id);
    return [subPipeline.id, { ...prepared, breakpoints, session: session.json, ownsBlackboard }];
  });
  const handlers = plan.handlers && prepareHandlers(plan.handlers, given, blackboard, id, secrets);
  return {
    id,
    secrets,
    plan,
    tenantId: readTenantId(run),
    inputs: inputs.json,
    session: session.json,
    submittedKeys: readSubmittedKeys(run),
    submittedText,
    labels,
    submittedLabels: run.labels && { ...run.labels },
    submittedOptions: { ...run.options },
    concurrency: readConcurrency(run),
    waves: sum(subRuns, ({ pipeline }) => pipeline.waves.length),
    tasks: sum(subRuns, ({ pipeline }) => pipeline.tasks.size),
    subRuns: new Map(subRuns),
    handlers: handlers && { ...handlers, session: session.json, ownsBlackboard },
    // The size of the plan includes its pipelines.
    sizeBytes:
      RUN_BYTES +
      plan.sizeBytes +
      inputs.sizeBytes +
      session.sizeBytes +
      measureText(submittedText) +
      measureLabels(labels) +
      sum(subRuns, ({ sizeBytes, pipeline }) => sizeBytes - pipeline.sizeBytes) +
      (handlers === undefined ? 0 : handlers.sizeBytes - handlers.pipeline.sizeBytes),
    collectEvents: run.collect_events ?? false,
    blackboard,
    ownsBlackboard,
    rerunSource,
  };
}

/** Checks the inputs of a sub-run: the plan inputs that the sub-pipeline lists. */
function prepareSubRun(
  { id, pipeline, inputs: keys }: SubPipeline,
  given: PlanInputs & WithSubmittedKeys,
  rerunSource: PlanRerunSource | undefined,
  blackboard: Blackboard,
  runId: string,
  secrets: RunSecrets,
): PreparedRun {
  const { inputs = {}, frozenSubRuns } = given;
  const run = {
    ...toRunInputs(pipeline, given, pickInputs(inputs, keys)),
    frozenValues: frozenSubRuns?.get(id),
  };
  try {
    return prepareRun(run, rerunSource?.subRuns.get(id), blackboard, runId, secrets);
  } catch (cause) {
    if (!(cause instanceof WavetrainError) || cause.code === 'invalid_options') throw cause;
    throw new WavetrainError(cause.code, `sub-pipeline "${id}": ${errorMessage(cause)}`, { cause });
  }
}

/** The handlers of a plan read all of its inputs. A rerun calls them again. */
function prepareHandlers(
  pipeline: Pipeline,
  given: PlanInputs,
  blackboard: Blackboard,
  runId: string,
  secrets: RunSecrets,
): PreparedRun {
  const run = toRunInputs(pipeline, given, given.inputs ?? {});
  return prepareRun(run, undefined, blackboard, runId, secrets);
}

function toRunInputs(
  pipeline: Pipeline,
  { options, tenant_id: tenantId }: PlanInputs,
  inputs: JsonObject,
): RunInputs {
  return {
    pipeline,
    inputs,
    ...(options && { options }),
    ...(tenantId !== undefined && { tenant_id: tenantId }),
  };
}

function readConcurrency({ plan, plan_concurrency: submitted }: PlanInputs): number {
  const concurrency = submitted ?? plan.definition.plan_concurrency ?? 1;
  if (Number.isInteger(concurrency) && concurrency > 0) return concurrency;
  throw new WavetrainError(
    'invalid_options',
    `plan_concurrency must be a whole number above 0; it is ${JSON.stringify(concurrency)}`,
  );
}

function sum(subRuns: readonly [string, PreparedRun][], measure: (run: PreparedRun) => number): number {
  return subRuns.reduce((total, [, run]) => total + measure(run), 0);
}
