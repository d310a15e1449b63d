import { randomUUID } from 'node:crypto';
import type { Blackboard } from '../../blackboard/blackboard.js';
import type { Clock } from '../../common/clock.js';
import { messageOf, WavetrainError } from '../../common/errors.js';
import { type JsonObject, setOwn } from '../../common/json.js';
import { resolveParams } from '../../definition/params.js';
import type { Scope } from '../../definition/template/scope.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { weighedJson } from '../json-output.js';
import type { RunInputs } from '../run-inputs.js';
import { readOptions } from './options.js';
import type { Origin, PreparedRun } from './prepared-run.js';

/**
 * Checks what a run is given: values of every parameter, inputs merged, options read.
 *
 * @throws WavetrainError `invalid_params`, `invalid_inputs` or `invalid_options`
 */
export function prepare(
  run: RunInputs,
  origin: Origin | undefined,
  blackboard: Blackboard | undefined,
  clock: Clock,
): PreparedRun {
  const { pipeline } = run;
  const params = paramsOf(run);
  const inputs = frozen('inputs', merged(pipeline.definition.inputs ?? {}, run.inputs ?? {}));
  const session = frozen('session', run.session ?? {});
  const given = { params: params.json, inputs: inputs.json, session: session.json };
  const scope = { ...given, output: () => undefined, session: {}, goal: '' };
  return {
    id: newRunId(clock.now()),
    pipeline,
    tenantId: tenantOf(run),
    ...given,
    goal: goalOf(pipeline, scope),
    options: readOptions(run.options),
    given: { ...run.options },
    weight: pipeline.weight + params.weight + inputs.weight + session.weight,
    collectEvents: run.collect_events ?? false,
    blackboard,
    isOurs: blackboard === undefined,
    origin,
  };
}

/** Whose run it will be. */
export function tenantOf({ tenant_id }: Pick<RunInputs, 'tenant_id'>): string {
  return tenant_id ?? 'default';
}

/** The goal is a string in the definition, and templates within it leave it one unless it is exactly one template. */
function goalOf({ goal }: Pipeline, scope: Scope): string {
  try {
    const rendered = goal.render(scope);
    return typeof rendered === 'string' ? rendered : JSON.stringify(rendered);
  } catch (cause) {
    throw new WavetrainError('invalid_params', `the goal cannot be told: ${messageOf(cause)}`, { cause });
  }
}

function paramsOf({ pipeline, params }: RunInputs): ReturnType<typeof frozen> {
  const resolved = resolveParams(pipeline.definition, params ?? {});
  if (!resolved.ok) throw new WavetrainError('invalid_params', resolved.problems.join('; '));
  return frozen('params', resolved.values);
}

/** Defaults and the values given for the run, key by key (D5); an undefined one is not given. */
export function merged(defaults: Record<string, unknown>, given: JsonObject): Record<string, unknown> {
  const inputs: Record<string, unknown> = {};
  for (const [key, value] of [...Object.entries(defaults), ...Object.entries(given)]) {
    if (value !== undefined) setOwn(inputs, key, value);
  }
  return inputs;
}

/** What tools will read and may not change. */
export function frozen(what: string, values: object): { readonly json: JsonObject; readonly weight: number } {
  try {
    return weighedJson(values) as { json: JsonObject; weight: number };
  } catch (error) {
    throw new WavetrainError('invalid_inputs', `${what} ${messageOf(error)}`, { cause: error });
  }
}

/** A UUIDv7 in lower case: ids sort by the time they were made (D27). */
export function newRunId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0');
  // Everything from the digit after the version on is random, and carries the variant already.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
