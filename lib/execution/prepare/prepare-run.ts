import { randomFillSync } from 'node:crypto';
import type { RunBreakpoints } from '../../../machines/run.js';
import type { Blackboard } from '../session/blackboard.js';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import { isLongValue, type JsonObject, setOwn, subtractJsonLength } from '../../common/json.js';
import { MAX_GOAL_LENGTH, MAX_SHOWN_YAML_LENGTH } from '../../common/limits.js';
import { resolveParams } from '../../definition/params.js';
import { RenderMeter } from '../../definition/template/render-meter.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { Steps } from '../../common/steps.js';
import { RunSecrets, type SecretSource } from '../../definition/secrets/run-secrets.js';
import { copyToJson, copyToJsonInSteps } from '../invocation/json-output.js';
import type { ExecutionOptions, PlanInputs, RunInputs } from '../run-inputs.js';
import { resolveBreakpoints } from './breakpoints.js';
import { type Options, readOptions } from './options.js';
import { type RunDefinition, measureSource, type RerunSource } from './rerun-source.js';

/** Checked run inputs: every parameter has a value, inputs are merged, options are read. */
export interface PreparedRun extends RunDefinition {
  readonly id: string;
  /** Those of the submitted run, which its sub-pipelines and nested runs share. */
  readonly secrets: RunSecrets;
  readonly tenantId: string;
  readonly options: Options;
  readonly submittedKeys: SubmittedKeys;
  /** The text of the definition as it was submitted; undefined when it was none, or is not kept. */
  readonly submittedText: string | undefined;
  /** Undefined for a run that never pauses. */
  readonly breakpoints: RunBreakpoints | undefined;
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
}

/** Measured memory of a run that is queued: its actors, session and record. */
export const RUN_BYTES = 12 * 1024;

/**
 * Checks the inputs of a run.
 *
 * @param id of the run, or of the submitted run that contains it
 * @param secrets where its secrets come from, or those of the run that contains it
 * @throws WavetrainError `invalid_params`, `invalid_inputs`, `invalid_options` or `secret_missing`
 */
export function prepareRun(
  run: RunInputs & WithSubmittedKeys,
  rerunSource: RerunSource | undefined,
  blackboard: Blackboard | undefined,
  id: string,
  secrets?: SecretSource | RunSecrets,
): PreparedRun {
  const { pipeline } = run;
  const resolved = resolveParams(pipeline.definition, run.params ?? {});
  if (!resolved.ok) throw new WavetrainError('invalid_params', resolved.problems.join('; '));
  const params = freezeValues('params', resolved.values);
  const inputs = freezeValues('inputs', mergeInputs(pipeline.definition.inputs ?? {}, run.inputs ?? {}));
  const session = freezeValues('session', run.session ?? {});
  const tenantId = readTenantId(run);
  const runSecrets = secrets instanceof RunSecrets ? secrets : new RunSecrets(secrets, tenantId);
  runSecrets.add(pipeline.contract.secrets);
  const submittedText = readSubmittedText(run);
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
    submittedOptions: run.options === undefined ? NO_OPTIONS : { ...run.options },
    sizeBytes:
      RUN_BYTES +
      pipeline.sizeBytes +
      params.sizeBytes +
      inputs.sizeBytes +
      session.sizeBytes +
      goal.length +
      measureText(submittedText) +
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

/** Merges defaults and submitted values key by key (D5); an undefined value does not override its default. */
export function mergeInputs(
  defaults: Record<string, unknown>,
  submitted: JsonObject,
): Record<string, unknown> {
  // Values that were merged and frozen in steps may be many. What is undefined is dropped when they are copied.
  const overrides = (key: string): boolean => Object.hasOwn(submitted, key) && submitted[key] !== undefined;
  if (Object.isFrozen(submitted) && Object.keys(defaults).every(overrides)) return submitted;
  if (isEmpty(submitted)) return defaults;
  const inputs: Record<string, unknown> = {};
  for (const values of [defaults, submitted]) {
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (value !== undefined) setOwn(inputs, key, value);
    }
  }
  return inputs;
}

/**
 * Copies values into frozen JSON, which tools can read and not change.
 *
 * @param name of the values, for the error
 * @throws WavetrainError `invalid_inputs`
 */
export function freezeValues(
  name: string,
  values: object,
): { readonly json: JsonObject; readonly sizeBytes: number } {
  if (!Object.isFrozen(values) && isEmpty(values)) return EMPTY;
  try {
    return copyToJson(values) as { json: JsonObject; sizeBytes: number };
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

/** Whether a run has values with so many parts that `prepareRun` would hold the event loop. */
export function hasLongValues(run: RunValues): boolean {
  const { params, inputs, session } = run;
  return isLongValue(params) || isLongValue(inputs) || isLongValue(session) || isLongValue(getDefaults(run));
}

function getDefaults({ pipeline, plan }: RunValues): Record<string, unknown> {
  return (pipeline ?? plan)?.definition.inputs ?? {};
}

/**
 * Freezes the values of a run in steps, so that `prepareRun` need not.
 *
 * @throws WavetrainError `invalid_inputs`
 */
export function* freezeInSteps<R extends RunValues & WithSubmittedKeys>(
  run: R,
): Steps<R & WithSubmittedKeys> {
  const submittedKeys = readSubmittedKeys(run);
  const frozen: Record<string, unknown> = { ...(run as RunValues), submittedKeys };
  const inputs = mergeInputs(getDefaults(run), run.inputs ?? {});
  yield;
  for (const [name, values] of Object.entries({ params: run.params, inputs, session: run.session })) {
    if (values === undefined) continue;
    try {
      frozen[name] = (yield* copyToJsonInSteps(values)).json;
    } catch (error) {
      throw invalidInputs(name, error);
    }
  }
  return frozen as R & WithSubmittedKeys;
}

const EMPTY = copyToJson({}) as { readonly json: JsonObject; readonly sizeBytes: number };

function isEmpty(values: object): boolean {
  for (const _ in values) return false;
  return Object.getPrototypeOf(values) === Object.prototype;
}

export function readTenantId({ tenant_id: tenantId }: Pick<RunInputs, 'tenant_id'>): string {
  return tenantId ?? 'default';
}

/** What the goal of a pipeline can read: nothing that only a run has. */
class GoalScope implements TemplateScope {
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

/**
 * Renders the goal as a string. A goal that is exactly one template may render to any JSON.
 *
 * @throws WavetrainError `invalid_params`, also for a goal that is too long
 */
function renderGoal({ goal }: Pipeline, scope: TemplateScope): string {
  const text = toText(goal, scope);
  if (text !== undefined && text.length <= MAX_GOAL_LENGTH) return text;
  throw new WavetrainError(
    'invalid_params',
    `the goal has ${text?.length ?? `over ${MAX_GOAL_LENGTH}`} characters with its params filled in; the limit is ${MAX_GOAL_LENGTH}: use a shorter param in it`,
  );
}

/** Undefined when the JSON of a list or an object would be too long: a value that shares its parts may have gigabytes. */
function toText(goal: Pipeline['goal'], scope: TemplateScope): string | undefined {
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
