import { randomUUID } from 'node:crypto';
import type { Blackboard } from '../../blackboard/blackboard.js';
import type { Clock } from '../../common/clock.js';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import { type JsonObject, setOwn } from '../../common/json.js';
import { resolveParams } from '../../definition/params.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { copyToJson } from '../json-output.js';
import type { TaskOutcome } from '../results.js';
import type { ExecutionOptions, RunInputs } from '../run-inputs.js';
import { type Options, readOptions } from './options.js';

/** Checked run inputs: every parameter has a value, inputs are merged, options are read. */
export interface PreparedRun {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly tenantId: string;
  readonly params: JsonObject;
  readonly inputs: JsonObject;
  readonly session: JsonObject;
  readonly goal: string;
  readonly options: Options;
  /** The options as they were submitted, for a rerun. */
  readonly submittedOptions: ExecutionOptions;
  /** Approximate memory, in bytes. */
  readonly sizeBytes: number;
  readonly collectEvents: boolean;
  /** Undefined: the run creates one. */
  readonly blackboard: Blackboard | undefined;
  /** True when the blackboard belongs to this run, or to the plan that contains it, and the caller provided none. */
  readonly ownsBlackboard: boolean;
  /** The run that this one repeats in part (D35). */
  readonly rerunSource: RerunSource | undefined;
}

/** An earlier run whose outcomes a rerun reuses (D35). */
export interface RerunSource {
  readonly runId: string;
  /** By task id: these tasks publish the earlier outcome instead of calling their tools. */
  readonly outcomes: ReadonlyMap<string, TaskOutcome>;
}

/** An earlier run of a plan, with the outcomes to reuse by sub-pipeline id. */
export interface PlanRerunSource {
  readonly runId: string;
  readonly subRuns: ReadonlyMap<string, RerunSource>;
}

/**
 * Checks the inputs of a run.
 *
 * @throws WavetrainError `invalid_params`, `invalid_inputs` or `invalid_options`
 */
export function prepareRun(
  run: RunInputs,
  rerunSource: RerunSource | undefined,
  blackboard: Blackboard | undefined,
  clock: Clock,
): PreparedRun {
  const { pipeline } = run;
  const resolved = resolveParams(pipeline.definition, run.params ?? {});
  if (!resolved.ok) throw new WavetrainError('invalid_params', resolved.problems.join('; '));
  const params = freezeValues('params', resolved.values);
  const inputs = freezeValues('inputs', mergeInputs(pipeline.definition.inputs ?? {}, run.inputs ?? {}));
  const session = freezeValues('session', run.session ?? {});
  const values = { params: params.json, inputs: inputs.json, session: session.json };
  return {
    id: createRunId(clock.now()),
    pipeline,
    tenantId: readTenantId(run),
    ...values,
    goal: renderGoal(pipeline, { ...values, output: () => undefined, session: {}, goal: '' }),
    options: readOptions(run.options),
    submittedOptions: { ...run.options },
    sizeBytes: pipeline.sizeBytes + params.sizeBytes + inputs.sizeBytes + session.sizeBytes,
    collectEvents: run.collect_events ?? false,
    blackboard,
    ownsBlackboard: blackboard === undefined,
    rerunSource,
  };
}

/** Merges defaults and submitted values key by key (D5); an undefined value does not override its default. */
export function mergeInputs(
  defaults: Record<string, unknown>,
  submitted: JsonObject,
): Record<string, unknown> {
  const inputs: Record<string, unknown> = {};
  for (const [key, value] of [...Object.entries(defaults), ...Object.entries(submitted)]) {
    if (value !== undefined) setOwn(inputs, key, value);
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
  try {
    return copyToJson(values) as { json: JsonObject; sizeBytes: number };
  } catch (error) {
    throw new WavetrainError('invalid_inputs', `${name} ${errorMessage(error)}`, { cause: error });
  }
}

export function readTenantId({ tenant_id: tenantId }: Pick<RunInputs, 'tenant_id'>): string {
  return tenantId ?? 'default';
}

/** Renders the goal as a string. A goal that is exactly one template may render to any JSON. */
function renderGoal({ goal }: Pipeline, scope: TemplateScope): string {
  try {
    const rendered = goal.render(scope);
    return typeof rendered === 'string' ? rendered : JSON.stringify(rendered);
  } catch (cause) {
    throw new WavetrainError('invalid_params', `cannot render the goal: ${errorMessage(cause)}`, { cause });
  }
}

/** Creates a lower-case UUIDv7, so that ids sort by the time of creation (D27). */
export function createRunId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0');
  // The rest of a random UUID, from the digit after the version on, carries the variant already.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
