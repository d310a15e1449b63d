import { WavetrainError } from '../../common/errors.js';
import { CONCURRENCY_LIMITS } from '../../common/limits.js';
import { resolveParams } from '../../definition/params.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { compileGoal } from '../../definition/template/goal.js';
import { GoalScope, renderParams, type WithSubmittedKeys } from './prepare-run.js';
import type { PlanInputs, RunInputs } from './run-inputs.js';

type Requested =
  | { readonly kind: 'pipeline'; readonly inputs: RunInputs & WithSubmittedKeys }
  | { readonly kind: 'plan'; readonly inputs: PlanInputs };

/** The runs of a definition that count together: no more than a number of them are at work at once (D81). */
export interface RunGroup {
  /** Of the tenant: the id of the definition, and what its `concurrency_key` has come to. */
  readonly key: string;
  /** The value of its `concurrency_key` for this run; empty without one. */
  readonly value: string;
  readonly limit: number;
  readonly on_busy: 'queue' | 'skip' | 'cancel_running';
}

/**
 * The group of a run that is asked for; undefined when its definition has no `max_running`, or its params are not those that
 * it needs: that is an error when the run is created.
 *
 * @throws WavetrainError `invalid_params` for a key that is too long
 */
export function readRunGroup({ kind, inputs }: Requested): RunGroup | undefined {
  const { definition } = kind === 'plan' ? inputs.plan : inputs.pipeline;
  const { id, max_running: limit, on_busy = 'queue' } = definition;
  if (limit === undefined) return undefined;
  const value = kind === 'plan' ? '' : renderKey(inputs.pipeline.definition, inputs);
  return value === undefined ? undefined : { key: JSON.stringify([id, value]), value, limit, on_busy };
}

function renderKey(
  definition: Pipeline['definition'],
  { params = {}, frozenValues }: RunInputs & WithSubmittedKeys,
): string | undefined {
  const { concurrency_key: text } = definition;
  if (text === undefined) return '';
  const frozen = frozenValues?.params;
  if (frozen instanceof WavetrainError) return undefined;
  const resolved =
    frozen === undefined ? resolveParams(definition, params) : { ok: true, values: frozen.json };
  if (!resolved.ok || !('values' in resolved)) return undefined;
  const key = renderParams(compileGoal(text).renderer, new GoalScope(resolved.values, {}));
  if (key !== undefined && key.length <= CONCURRENCY_LIMITS.valueLength) return key;
  const message = `"concurrency_key" has more than ${CONCURRENCY_LIMITS.valueLength} characters with its params filled in: use a shorter param in it`;
  throw new WavetrainError('invalid_params', message);
}
