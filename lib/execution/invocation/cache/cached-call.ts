import type { TaskResult } from '../../../../machines/types.js';
import { errorMessage, type ToolError } from '../../../common/errors.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import type { Masker } from '../../../definition/secrets/masker.js';
import { copyToJsonInSteps } from '../json-output.js';
import type { Write } from '../../session/session-overrides.js';
import { type Call, type CallOutput, failCall, type Layer, LayeredCall, STOPPED } from '../call.js';
import type { CachedOutput, CacheKey } from './cached-output.js';
import { computeCacheKey } from './output-cache.js';

/** A call that is not made when an equal one has succeeded before (D65): otherwise it calls the tool, and keeps the output. */
class CachedCall extends LayeredCall {
  #key: CacheKey | undefined;
  #isAborted = false;

  start(): this {
    // The output of a call that another process has begun was not in the cache.
    if (this.call.progress === undefined) void this.#start();
    else this.makeInner();
    return this;
  }

  async #start(): Promise<void> {
    const found = await this.#find();
    if (this.#isAborted) return;
    if (found === undefined) this.makeInner();
    else this.#reuse(found);
  }

  /** Resolves with the output of an equal invocation, if there is one. Never rejects. */
  async #find(): Promise<CachedOutput | undefined> {
    const { tenantId, secrets } = this.services.prepared;
    const { task, inputs } = this.call;
    this.#key = await this.#runSteps(computeCacheKey(tenantId, task.tool, inputs));
    const cached = await this.services.dependencies.cache.get(this.#key);
    const { masker } = secrets;
    return cached === undefined || masker === undefined ? cached : this.#runSteps(maskOutput(cached, masker));
  }

  /** Does short work at once, and leaves longer work to the step runner. */
  async #runSteps<T>(steps: Steps<T>): Promise<T> {
    const { prepared, dependencies } = this.services;
    const first = steps.next();
    return first.done === true ? first.value : dependencies.stepRunner.run(steps, prepared.tenantId, 'cache');
  }

  /** Files go with their run, so that outputs that name some cannot be kept. */
  override onSuccess(call: Call, output: CallOutput): TaskResult | undefined {
    const { cacheMs } = call.task;
    if (!output.hasFiles && this.#key !== undefined && cacheMs !== undefined) {
      const { value, writes, sizeBytes } = output;
      this.services.dependencies.cache.set(this.#key, { output: value, writes, sizeBytes }, cacheMs);
    }
    return this.outer.onSuccess(call, output);
  }

  #reuse(cached: CachedOutput): void {
    const call = this.call;
    call.owner.releaseInputs(call);
    try {
      this.services.budget.reserve(cached.sizeBytes);
    } catch (error) {
      return failCall(call, this.outer, errorMessage(error));
    }
    this.onCacheHit(call, cached);
    call.slot.settle({ ok: true });
  }

  override abort(error?: ToolError): void {
    if (this.inner !== undefined) return super.abort(error);
    if (this.#isAborted) return;
    this.#isAborted = true;
    failCall(this.call, this.outer, STOPPED);
  }
}

/** Asks the cache before the tool is called, where the task has `cache` and the run uses it (D65). */
export const cache: Layer = (services, next, { cacheMs }) =>
  cacheMs === undefined || !services.prepared.options.usesCache
    ? next
    : (call, listener) => new CachedCall(services, call, listener, next).start();

/** Masks an output, because the run that kept it may have had other secrets (D61). In steps: outputs may be long. */
function* maskOutput({ output, writes, sizeBytes }: CachedOutput, masker: Masker): Steps<CachedOutput> {
  const { json } = yield* copyToJsonInSteps(output, masker);
  const masked: Write[] = [];
  for (const write of writes) {
    const value = (yield* copyToJsonInSteps(write.value, masker)).json;
    masked.push({ ...write, key: masker.mask(write.key), value });
  }
  return { output: json, writes: masked, sizeBytes };
}
