import { errorMessage, type ToolError } from '../../../common/errors.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import type { Masker } from '../../../definition/secrets/masker.js';
import { copyToJsonInSteps } from '../json-output.js';
import type { InvocationServices } from '../../run-context.js';
import type { Write } from '../../session/session-overrides.js';
import {
  type AbortableCall,
  type Call,
  type CallListener,
  type CallOutput,
  CallRelay,
  failCall,
  InnerCall,
  type Layer,
  type MakeCall,
  STOPPED,
} from '../call.js';
import type { CachedOutput, CacheKey } from './cached-output.js';
import { computeCacheKey, type OutputCache } from './output-cache.js';

/** A call that is not made when an equal one has succeeded before (D65): otherwise it calls the tool, and keeps the output. */
class CachedCall extends CallRelay implements AbortableCall {
  #key: CacheKey | undefined;
  /** Set when nothing was found, and the tool is called. */
  #invocation: InnerCall | undefined;
  #isAborted = false;
  readonly #services: InvocationServices;
  readonly #cache: OutputCache;
  readonly #call: Call;
  readonly #next: MakeCall;

  /** @param next calls the tool */
  constructor(services: InvocationServices, call: Call, listener: CallListener, next: MakeCall) {
    super(listener);
    this.#services = services;
    this.#cache = services.dependencies.cache;
    this.#call = call;
    this.#next = next;
  }

  start(): this {
    // The output of a call that another process has begun was not in the cache.
    if (this.#call.progress === undefined) void this.#start();
    else this.#invoke();
    return this;
  }

  async #start(): Promise<void> {
    const found = await this.#find();
    if (this.#isAborted) return;
    if (found === undefined) this.#invoke();
    else this.#reuse(found);
  }

  /** Resolves with the output of an equal invocation, if there is one. Never rejects. */
  async #find(): Promise<CachedOutput | undefined> {
    const { tenantId, secrets } = this.#services.prepared;
    const { task, inputs } = this.#call;
    this.#key = await this.#runSteps(computeCacheKey(tenantId, task.tool, inputs));
    const cached = await this.#cache.get(this.#key);
    const { masker } = secrets;
    return cached === undefined || masker === undefined ? cached : this.#runSteps(maskOutput(cached, masker));
  }

  /** Does short work at once, and leaves longer work to the step runner. */
  async #runSteps<T>(steps: Steps<T>): Promise<T> {
    const { prepared, dependencies } = this.#services;
    const first = steps.next();
    return first.done === true ? first.value : dependencies.stepRunner.run(steps, prepared.tenantId, 'cache');
  }

  #invoke(): void {
    this.#invocation = new InnerCall();
    this.#invocation.make(this.#next, this.#call, this);
  }

  /** Files go with their run, so that outputs that name some cannot be kept. */
  override onSuccess(call: Call, output: CallOutput): void {
    const { cacheMs } = call.task;
    if (!output.hasFiles && this.#key !== undefined && cacheMs !== undefined) {
      const { value, writes, sizeBytes } = output;
      this.#cache.set(this.#key, { output: value, writes, sizeBytes }, cacheMs);
    }
    this.outer.onSuccess(call, output);
  }

  #reuse(cached: CachedOutput): void {
    const call = this.#call;
    call.owner.releaseInputs(call);
    try {
      this.#services.budget.reserve(cached.sizeBytes);
    } catch (error) {
      return failCall(call, this.outer, errorMessage(error));
    }
    this.onCacheHit(call, cached);
    call.slot.settle({ ok: true });
  }

  abort(error?: ToolError): void {
    if (this.#invocation !== undefined) return this.#invocation.abort(error);
    if (this.#isAborted) return;
    this.#isAborted = true;
    failCall(this.#call, this.outer, STOPPED);
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
