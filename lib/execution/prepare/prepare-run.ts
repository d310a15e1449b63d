import { randomFillSync } from 'node:crypto';
import type { RunBreakpoints } from '../../../machines/run.js';
import type { Labels } from '../../common/wire/labels.js';
import type { Blackboard } from '../session/blackboard.js';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import { isLongValue, type JsonObject, setOwn, subtractJsonLength } from '../../common/json/json.js';
import { MAX_GOAL_LENGTH, MAX_SHOWN_YAML_LENGTH } from '../../common/limits.js';
import { measureLabels, mergeLabels } from './run-labels.js';
import { resolveParamsInSteps } from '../../definition/params.js';
import { RenderMeter } from '../../definition/template/render-meter.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
import { RunSecrets, type SecretSource } from '../../definition/secrets/run-secrets.js';
import { copyToJson, copyToJsonInSteps } from '../invocation/json-output.js';
import type { ExecutionOptions, PlanInputs, RunInputs } from './run-inputs.js';
import { resolveBreakpoints } from './breakpoints.js';
import { type Options, readOptions } from './options.js';
import { type RunDefinition, measureSource, type RerunSource } from './rerun-source.js';

/** Checked run inputs: every parameter has a value, inputs are merged, options are read. */
export interface PreparedRun extends RunDefinition {
  readonly id: string;
  /** The secrets of the submitted run, which its sub-pipelines and nested runs share. */
  readonly secrets: RunSecrets;
  readonly tenantId: string;
  readonly options: Options;
  readonly submittedKeys: SubmittedKeys;
  /** The text of the definition as it was submitted; undefined when it was none, or is not kept. */
  readonly submittedText: string | undefined;
  /** Undefined for a run that never pauses. */
  readonly breakpoints: RunBreakpoints | undefined;
  /** Labels of the definition and of the submission together. */
  readonly labels: Labels;
  /** Labels of the submission, for a rerun. */
  readonly submittedLabels: Labels | undefined;
  /** The options as they were submitted, for a rerun. */
  readonly submittedOptions: ExecutionOptions;
  /** Memory of the run before it begins, in bytes. */
  readonly sizeBytes: number;
  readonly collectEvents: boolean;
  /** Undefined: the run creates one. */
  readonly blackboard: Blackboard | undefined;
  /** True when the blackboard belongs to this run, or to the plan that contains it, and the caller provided none. */
  readonly ownsBlackboard: boolean;
  /** The run that this one repeats in part (D35). */
  readonly rerunSource: RerunSource | undefined;
}

/** The params and inputs that a run was given, for a rerun with a changed definition: the others have their defaults. */
export interface SubmittedKeys {
  readonly params: readonly string[];
  readonly inputs: readonly string[];
}

/** Set when the values of a run have their defaults already. */
export interface WithSubmittedKeys {
  readonly submittedKeys?: SubmittedKeys;
  /** The values that `prepareRun` would resolve and copy. */
  readonly frozenValues?: FrozenRunValues | undefined;
  /** The frozen values of the sub-pipelines of a plan, by id. */
  readonly frozenSubRuns?: ReadonlyMap<string, FrozenRunValues>;
}

/** A copy that tools can read and not change, and its memory. */
interface FrozenValues {
  readonly json: JsonObject;
  readonly sizeBytes: number;
}

/** The values of a pipeline with their defaults, or why it cannot run with them. */
interface FrozenRunValues {
  readonly params: FrozenValues | WavetrainError;
  readonly inputs: FrozenValues | WavetrainError;
}

/** Measured memory of a run that is queued: its actors, session and record. */
export const RUN_BYTES = 12 * 1024;

/**
 * Checks the inputs of a run. @param id of the run, or of the submitted run that contains it @param secrets or their source
 * @throws WavetrainError `invalid_params`, `invalid_inputs`, `invalid_options` or `secret_missing`
 */
export function prepareRun(
  run: RunInputs & WithSubmittedKeys,
  rerunSource: RerunSource | undefined,
  blackboard: Blackboard | undefined,
  id: string,
  secrets?: SecretSource | RunSecrets,
): PreparedRun {
  return runToEnd(prepareRunInSteps(run, rerunSource, blackboard, id, secrets));
}

/** Prepares like `prepareRun`, in steps. */
export function* prepareRunInSteps(
  run: RunInputs & WithSubmittedKeys,
  rerunSource: RerunSource | undefined,
  blackboard: Blackboard | undefined,
  id: string,
  secrets?: SecretSource | RunSecrets,
): Steps<PreparedRun> {
  const { pipeline } = run;
  const { params, inputs } = run.frozenValues ?? (yield* freezeRunValues(run));
  if (params instanceof WavetrainError) throw params;
  if (inputs instanceof WavetrainError) throw inputs;
  const session = yield* freezeValuesInSteps('session', run.session ?? {});
  const tenantId = readTenantId(run);
  const runSecrets = secrets instanceof RunSecrets ? secrets : new RunSecrets(secrets, tenantId);
  runSecrets.add(pipeline.contract.secrets);
  const submittedText = readSubmittedText(run);
  const labels = mergeLabels(pipeline.definition.labels, run.labels);
  const goal = runSecrets.mask(renderGoal(pipeline, new GoalScope(params.json, inputs.json)));
  return {
    id,
    secrets: runSecrets,
    secretDigests: runSecrets.digests,
    pipeline,
    tenantId,
    params: params.json,
    inputs: inputs.json,
    session: session.json,
    goal,
    options: readOptions(run.options),
    breakpoints: run.breakpoints && resolveBreakpoints(pipeline, run.breakpoints),
    submittedKeys: readSubmittedKeys(run),
    submittedText,
    labels,
    submittedLabels: run.labels && { ...run.labels },
    submittedOptions: run.options === undefined ? NO_OPTIONS : { ...run.options },
    sizeBytes:
      RUN_BYTES +
      pipeline.sizeBytes +
      params.sizeBytes +
      inputs.sizeBytes +
      session.sizeBytes +
      goal.length +
      measureText(submittedText) +
      measureLabels(labels) +
      (rerunSource === undefined ? 0 : measureSource(rerunSource)),
    collectEvents: run.collect_events ?? false,
    blackboard,
    ownsBlackboard: blackboard === undefined,
    rerunSource,
  };
}

const NO_OPTIONS: ExecutionOptions = Object.freeze({});

const NO_KEYS: SubmittedKeys = { params: [], inputs: [] };

export function readSubmittedKeys({
  params,
  inputs,
  submittedKeys,
}: Pick<RunInputs, 'params' | 'inputs'> & WithSubmittedKeys): SubmittedKeys {
  if (submittedKeys !== undefined) return submittedKeys;
  if (params === undefined && inputs === undefined) return NO_KEYS;
  return { params: Object.keys(params ?? {}), inputs: Object.keys(inputs ?? {}) };
}

/** The text of a definition that is kept with its run: none that is too long, and none of a plan without its pipelines. */
export function readSubmittedText({
  submitted_text: text,
  plan,
}: Pick<RunInputs, 'submitted_text'> & Partial<Pick<PlanInputs, 'plan'>>): string | undefined {
  if (text === undefined || text.length > MAX_SHOWN_YAML_LENGTH) return undefined;
  const isWhole = plan?.definition.sub_pipelines.every(({ pipeline }) => pipeline !== undefined) ?? true;
  return isWhole ? text : undefined;
}

/** Memory of a text, in bytes. */
export function measureText(text: string | undefined): number {
  return 2 * (text?.length ?? 0);
}

/** The keys of an object with more are listed in steps. */
const KEYS_PER_STEP = 500;

/** Merges defaults and submitted values key by key (D5); an undefined value does not override its default. */
export function* mergeInputs(
  defaults: Record<string, unknown>,
  submitted: JsonObject,
): Steps<Record<string, unknown>> {
  // Values that were merged and frozen in steps may be many. Undefined values are dropped when they are copied.
  const overrides = (key: string): boolean => Object.hasOwn(submitted, key) && submitted[key] !== undefined;
  if (Object.isFrozen(submitted) && Object.keys(defaults).every(overrides)) return submitted;
  return isEmpty(submitted) ? defaults : yield* mergeObjects(defaults, submitted);
}

/** Returns an object with the members of both, in steps; those of the second one override others, unless undefined. */
export function* mergeObjects(
  first: Record<string, unknown>,
  second: Record<string, unknown>,
): Steps<Record<string, unknown>> {
  const merged: Record<string, unknown> = {};
  let count = 0;
  for (const values of [first, second]) {
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (value !== undefined) setOwn(merged, key, value);
      if (++count % KEYS_PER_STEP === 0) yield;
    }
  }
  return merged;
}

/** Resolves the params of a pipeline, and merges its inputs with their defaults. */
function* freezeRunValues(run: Pick<RunInputs, 'pipeline' | 'params' | 'inputs'>): Steps<FrozenRunValues> {
  const { definition } = run.pipeline;
  const inputs = yield* mergeInputs(definition.inputs ?? {}, run.inputs ?? {});
  return {
    params: yield* orError(freezeParams(definition, run.params ?? {})),
    inputs: yield* orError(freezeValuesInSteps('inputs', inputs)),
  };
}

function* freezeParams(definition: Pipeline['definition'], supplied: JsonObject): Steps<FrozenValues> {
  const resolved = yield* resolveParamsInSteps(definition, supplied);
  if (!resolved.ok) throw new WavetrainError('invalid_params', resolved.problems.join('; '));
  return yield* freezeValuesInSteps('params', resolved.values);
}

function* orError<T>(steps: Steps<T>): Steps<T | WavetrainError> {
  try {
    return yield* steps;
  } catch (error) {
    if (error instanceof WavetrainError) return error;
    throw error;
  }
}

/** Copies values into frozen JSON, which tools cannot change. @param name for the error @throws WavetrainError `invalid_inputs` */
export function freezeValues(name: string, values: object): FrozenValues {
  return runToEnd(freezeValuesInSteps(name, values));
}

/** Copies like `freezeValues`, in steps. */
export function* freezeValuesInSteps(name: string, values: object): Steps<FrozenValues> {
  if (!Object.isFrozen(values) && isEmpty(values)) return EMPTY;
  try {
    return (yield* copyToJsonInSteps(values)) as FrozenValues;
  } catch (error) {
    throw invalidInputs(name, error);
  }
}

function invalidInputs(name: string, cause: unknown): WavetrainError {
  return new WavetrainError('invalid_inputs', `${name} ${errorMessage(cause)}`, { cause });
}

/** The values of a run, and the definition with the defaults of its inputs. */
type RunValues = Pick<RunInputs, 'params' | 'inputs' | 'session'> &
  Partial<Pick<RunInputs, 'pipeline'> & Pick<PlanInputs, 'plan'>>;

/** Returns true when a run has values with so many parts that `prepareRun` would hold the event loop. */
export function hasLongValues(run: RunValues): boolean {
  const { params, inputs, session } = run;
  return isLongValue(params) || isLongValue(inputs) || isLongValue(session) || isLongValue(listDefaults(run));
}

/** All defaults that are copied together: in a plan, those of its sub-pipelines too. */
function listDefaults({ pipeline, plan }: RunValues): readonly unknown[] {
  const subPipelines = plan === undefined ? [] : [...plan.subPipelines.values()];
  const pipelines = pipeline === undefined ? subPipelines.map((each) => each.pipeline) : [pipeline];
  const defaults = pipelines.flatMap(({ definition: { params, inputs } }) => [params, inputs]);
  return [plan?.definition.inputs, ...defaults.filter((each) => each !== undefined)];
}

/** Freezes the values of a run in steps, so that `prepareRun` need not. @throws WavetrainError `invalid_inputs` */
export function* freezeInSteps<R extends RunValues & WithSubmittedKeys>(
  run: R,
): Steps<R & WithSubmittedKeys> {
  const { pipeline, plan } = run;
  const submittedKeys = readSubmittedKeys(run);
  const inputs = yield* mergeInputs((pipeline ?? plan)?.definition.inputs ?? {}, run.inputs ?? {});
  const frozen: Record<string, unknown> & RunValues = { ...(run as RunValues), submittedKeys };
  for (const [name, values] of Object.entries({ params: run.params, inputs, session: run.session })) {
    if (values === undefined) continue;
    try {
      frozen[name] = (yield* copyToJsonInSteps(values)).json;
    } catch (error) {
      throw invalidInputs(name, error);
    }
  }
  if (pipeline !== undefined) frozen['frozenValues'] = yield* freezeRunValues({ ...frozen, pipeline });
  if (plan !== undefined) frozen['frozenSubRuns'] = yield* freezeSubRuns(plan, frozen.inputs ?? {});
  return frozen as R & WithSubmittedKeys;
}

function* freezeSubRuns(
  { subPipelines }: PlanInputs['plan'],
  planInputs: JsonObject,
): Steps<ReadonlyMap<string, FrozenRunValues>> {
  const frozen = new Map<string, FrozenRunValues>();
  for (const { id, pipeline, inputs } of subPipelines.values()) {
    frozen.set(id, yield* freezeRunValues({ pipeline, inputs: pickInputs(planInputs, inputs) }));
    yield;
  }
  return frozen;
}

/** The inputs of a plan that a sub-pipeline lists. */
export function pickInputs(planInputs: JsonObject, keys: Iterable<string>): JsonObject {
  const inputs: JsonObject = {};
  for (const key of keys) {
    if (Object.hasOwn(planInputs, key)) setOwn(inputs, key, planInputs[key]);
  }
  return inputs;
}

const EMPTY = copyToJson({}) as { readonly json: JsonObject; readonly sizeBytes: number };

function isEmpty(values: object): boolean {
  for (const _ in values) return false;
  return Object.getPrototypeOf(values) === Object.prototype;
}

export function readTenantId({ tenant_id: tenantId }: Pick<RunInputs, 'tenant_id'>): string {
  return tenantId ?? 'default';
}

/** The values that the goal of a pipeline can read: none that only a run has. */
export class GoalScope implements TemplateScope {
  readonly params: JsonObject;
  readonly inputs: JsonObject;
  readonly session = EMPTY.json;
  readonly goal = '';
  readonly meter = RenderMeter.forGoal();

  constructor(params: JsonObject, inputs: JsonObject) {
    this.params = params;
    this.inputs = inputs;
  }

  output(): undefined {
    return undefined;
  }
}

/** Renders the goal as a text; a single template may give any JSON. @throws WavetrainError `invalid_params`, also when too long */
function renderGoal({ goal }: Pipeline, scope: TemplateScope): string {
  const text = renderParams(goal, scope);
  if (text !== undefined && text.length <= MAX_GOAL_LENGTH) return text;
  throw new WavetrainError(
    'invalid_params',
    `the goal has ${text?.length ?? `over ${MAX_GOAL_LENGTH}`} characters with its params filled in; the limit is ${MAX_GOAL_LENGTH}: use a shorter param in it`,
  );
}

/** Undefined when the JSON of a list or an object would be too long: a value that shares its parts may have gigabytes. */
export function renderParams(goal: Pipeline['goal'], scope: TemplateScope): string | undefined {
  try {
    const rendered = goal.render(scope, undefined);
    if (typeof rendered === 'string') return rendered;
    return subtractJsonLength(2 * MAX_GOAL_LENGTH, rendered) < 0 ? undefined : JSON.stringify(rendered);
  } catch (cause) {
    throw new WavetrainError('invalid_params', `cannot render the goal: ${errorMessage(cause)}`, { cause });
  }
}

/** Random bytes of one id, as in a UUID without its time. */
const RANDOM_BYTES = 10;
const random = Buffer.alloc(256 * RANDOM_BYTES);
let used = random.length;

/** Creates a lower-case UUIDv7, so that ids sort by the time of creation (D27). */
export function createRunId(nowMs: number): string {
  // Random bytes for many ids at once: asking for them takes ten times as long as the rest.
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const bits = random.toString('hex', used, (used += RANDOM_BYTES));
  const time = nowMs.toString(16).padStart(12, '0');
  // The digit that carries the variant: 8, 9, a or b.
  const variant = (8 + (Number.parseInt(bits.charAt(3), 16) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${bits.slice(0, 3)}-${variant}${bits.slice(4, 7)}-${bits.slice(8)}`;
}
