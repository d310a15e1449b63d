import type { Clock } from '../../common/clock.js';
import { errorMessage, ToolError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { PipelineCall } from '../../tools/tool.js';
import { copyToJson } from '../json-output.js';
import { freezeValues, type PreparedRun, prepareRun } from '../prepare/prepare-run.js';

/** Memory of a reference to a value that is already in memory. */
const REFERENCE_BYTES = 64;

interface PreparedNestedRun {
  readonly prepared: PreparedRun;
  /** Memory that the inputs of the run add to what is already in memory. */
  readonly inputBytes: number;
}

/**
 * Checks the inputs of a nested run, as `prepareRun` does for a submitted one.
 *
 * @param outerSession frozen session values of the calling run; those of the call override them
 * @throws ToolError, not retryable
 */
export function prepareNestedRun(
  pipeline: Pipeline,
  call: PipelineCall,
  outerSession: JsonObject,
  caller: PreparedRun,
  clock: Clock,
): PreparedNestedRun {
  const { params = {}, inputs = {} } = call;
  const { id, tenantId, options, submittedOptions } = caller;
  try {
    const run = prepareRun({ pipeline, params, inputs, tenant_id: tenantId }, undefined, undefined, clock);
    const ownSession = freezeValues('session', call.session ?? {}).json;
    const session = mergeSessions(outerSession, ownSession);
    const inputBytes =
      measureCopy(run.params, params) +
      measureCopy(run.inputs, inputs) +
      measureCopy(ownSession, call.session ?? {}) +
      (session === outerSession ? 0 : REFERENCE_BYTES * Object.keys(session).length);
    return { prepared: { ...run, id, options, submittedOptions, session }, inputBytes };
  } catch (cause) {
    throw ToolError.nonRetryable(`pipeline "${pipeline.definition.id}": ${errorMessage(cause)}`, cause);
  }
}

/** Returns the outer session itself when the call adds nothing, so that many runs share it. */
function mergeSessions(outer: JsonObject, own: JsonObject): JsonObject {
  if (Object.isFrozen(outer) && Object.keys(own).length === 0) return outer;
  return Object.freeze({ ...outer, ...own });
}

/**
 * Measures what a copy adds to memory. Lists and objects that were not copied add a reference only; strings count,
 * because each may have been rendered for this call.
 */
function measureCopy(copy: JsonObject, original: JsonObject): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(copy)) {
    const isShared = typeof value === 'object' && value === original[key];
    bytes += key.length + REFERENCE_BYTES + (isShared ? 0 : copyToJson(value).sizeBytes);
  }
  return bytes;
}
