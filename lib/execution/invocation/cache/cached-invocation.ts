import type { Abort } from '../../../../machines/ports.js';
import { errorMessage } from '../../../common/errors.js';
import type { Json } from '../../../common/json/json.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import type { Masker } from '../../../definition/secrets/masker.js';
import { copyToJsonInSteps } from '../json-output.js';
import type { InvocationServices } from '../../run-context.js';
import type { Write } from '../../session/session-overrides.js';
import { type CallListener, type Call, type Layer, type MakeCall, STOPPED } from '../call.js';
import type { CachedOutput, CacheKey } from './cached-output.js';
import { computeCacheKey, type OutputCache } from './output-cache.js';

/**
 * An invocation that is not made when an equal one has succeeded before (D65): it looks for that one's output, or else
 * calls the tool and keeps what it gives. Settles exactly once, as an `Invocation` does.
 */
class CachedInvocation {
  #key: CacheKey | undefined;
  /** Set when nothing was found, and the tool is called. */
  #abortCall: Abort | undefined;
  #isAborted = false;
  readonly #services: InvocationServices;
  readonly #cache: OutputCache;
  readonly #call: Call;
  readonly #listener: CallListener;
  readonly #next: MakeCall;

  /** @param next calls the tool */
  constructor(services: InvocationServices, call: Call, listener: CallListener, next: MakeCall) {
    this.#services = services;
    this.#cache = services.dependencies.cache;
    this.#call = call;
    this.#listener = listener;
    this.#next = next;
  }

  start(): Abort {
    // The output of a call that another process has begun was not in the cache.
    if (this.#call.progress === undefined) void this.#start();
    else this.#invoke();
    return () => this.#abort();
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
    const { item } = this.#call;
    const listener: CallListener = {
      onAttempt: (of, attempt) => this.#listener.onAttempt(of, attempt),
      onRetry: (of, error, attempt, due) => this.#listener.onRetry(of, error, attempt, due),
      onDue: () => this.#listener.onDue?.(),
      onCall: (attempt) => this.#listener.onCall?.(attempt),
      onFailure: (of, error, attempts, thrown) => this.#listener.onFailure(of, error, attempts, thrown),
      onSuccess: (_, output, writes, attempts, sizeBytes, hasFiles) => {
        if (!hasFiles) this.#keep(output, writes, sizeBytes);
        this.#listener.onSuccess(item, output, writes, attempts, sizeBytes, hasFiles);
      },
      onCacheHit: (of, cached) => this.#listener.onCacheHit(of, cached),
    };
    this.#abortCall = this.#next(this.#call, listener);
  }

  /** Files go with their run, so that outputs that name some cannot be kept. */
  #keep(output: Json, writes: readonly Write[], sizeBytes: number): void {
    const { cacheMs } = this.#call.task;
    if (this.#key === undefined || cacheMs === undefined) return;
    this.#cache.set(this.#key, { output, writes, sizeBytes }, cacheMs);
  }

  #reuse(cached: CachedOutput): void {
    const { budget } = this.#services;
    budget.release(this.#call.heldBytes);
    try {
      budget.reserve(cached.sizeBytes);
    } catch (error) {
      this.#call.slot.settle(this.#listener.onFailure(this.#call.item, errorMessage(error), 0));
      return;
    }
    this.#listener.onCacheHit(this.#call.item, cached);
    this.#call.slot.settle({ ok: true });
  }

  #abort(): void {
    if (this.#abortCall !== undefined) return this.#abortCall();
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#services.budget.release(this.#call.heldBytes);
    this.#call.slot.settle(this.#listener.onFailure(this.#call.item, STOPPED, 0));
  }
}

/** Asks the cache before the tool is called, where the task has `cache` and the run uses it (D65). */
export const cache: Layer = (services, next, { cacheMs }) =>
  cacheMs === undefined || !services.prepared.options.usesCache
    ? next
    : (call, listener) => new CachedInvocation(services, call, listener, next).start();

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
