import type { Clock } from '../../common/clock.js';
import { messageOf, ToolError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { PipelineCall } from '../../tools/pipeline-call.js';
import { weighedJson } from '../json-output.js';
import { frozen, prepare } from '../prepare/prepare.js';
import type { PreparedRun } from '../prepare/prepared-run.js';

/** What a value takes that others hold already. */
const SHARED_BYTES = 64;

/** A run that is to be inside a task, and what that will take in memory which nothing else holds. */
interface PreparedNested {
  readonly prepared: PreparedRun;
  readonly givenBytes: number;
}

/**
 * Checks what a run inside a task is given, as `prepare` does for others.
 *
 * @param seen values that the calling run's session holds, frozen; those of the call come first
 * @throws ToolError, not retryable
 */
export function prepareNested(
  pipeline: Pipeline,
  call: PipelineCall,
  seen: JsonObject,
  caller: PreparedRun,
  clock: Clock,
): PreparedNested {
  const { params = {}, inputs = {} } = call;
  const { id, tenantId, options, given } = caller;
  try {
    const run = prepare({ pipeline, params, inputs, tenant_id: tenantId }, undefined, undefined, clock);
    const own = frozen('session', call.session ?? {}).json;
    const session = sessionOf(seen, own);
    const givenBytes =
      newBytes(run.params, params) +
      newBytes(run.inputs, inputs) +
      newBytes(own, call.session ?? {}) +
      (session === seen ? 0 : SHARED_BYTES * Object.keys(session).length);
    return { prepared: { ...run, id, options, given, session }, givenBytes };
  } catch (cause) {
    throw new ToolError(`pipeline "${pipeline.definition.id}": ${messageOf(cause)}`, {
      retryable: false,
      cause,
    });
  }
}

/** A view that many runs share stays one. */
function sessionOf(seen: JsonObject, own: JsonObject): JsonObject {
  if (Object.isFrozen(seen) && Object.keys(own).length === 0) return seen;
  return Object.freeze({ ...seen, ...own });
}

/** Of a copy: a value that was taken as it is takes nothing. Texts count, for each may have been made for this call. */
function newBytes(copy: JsonObject, given: JsonObject): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(copy)) {
    const isShared = typeof value === 'object' && value === given[key];
    bytes += key.length + (isShared ? SHARED_BYTES : SHARED_BYTES + weighedJson(value).weight);
  }
  return bytes;
}
