import type { Abort, Slot } from '../../../../machines/ports.js';
import { errorMessage } from '../../../common/errors.js';
import type { Json } from '../../../common/json/json.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import type { Masker } from '../../../definition/secrets/masker.js';
import { copyToJsonInSteps } from '../json-output.js';
import type { InvocationServices } from '../../run-context.js';
import type { Write } from '../../session/session-overrides.js';
import type { CallProgress } from '../../history/fact.js';
import { Invocation, type InvocationListener, STOPPED, type ToolCall } from '../invocation.js';
import type { CachedOutput, CacheKey } from './cached-output.js';
import { computeCacheKey, type OutputCache } from './output-cache.js';

/** Receives the end of an invocation whose output may come from the cache. */
export interface CachingListener extends InvocationListener {
  /** Called instead of `onSuccess` when the output of an equal invocation is used. */
  onCacheHit(item: number | undefined, cached: CachedOutput): void;
}

/**
 * An invocation that is not made when an equal one has succeeded before (D65): it looks for that one's output, or else
 * calls the tool and keeps what it gives. Settles exactly once, as an `Invocation` does.
 */
export class CachedInvocation {
  #key: CacheKey | undefined;
  #invocation: Invocation | undefined;
  #isAborted = false;
  readonly #services: InvocationServices;
  readonly #cache: OutputCache;
  readonly #call: ToolCall;
  readonly #listener: CachingListener;
  readonly #slot: Slot;

  constructor(
    services: InvocationServices,
    cache: OutputCache,
    call: ToolCall,
    listener: CachingListener,
    slot: Slot,
  ) {
    this.#services = services;
    this.#cache = cache;
    this.#call = call;
    this.#listener = listener;
    this.#slot = slot;
  }

  /** @param progress of a call that another process has begun: its output was not in the cache */
  start(progress?: CallProgress): Abort {
    if (progress === undefined) void this.#start();
    else this.#invoke(progress);
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

  #invoke(progress?: CallProgress): void {
    const { item } = this.#call;
    const listener: InvocationListener = {
      onAttempt: (of, attempt) => this.#listener.onAttempt(of, attempt),
      onRetry: (of, error, attempt, due) => this.#listener.onRetry(of, error, attempt, due),
      onDue: () => this.#listener.onDue?.(),
      onCall: (attempt) => this.#listener.onCall?.(attempt),
      onFailure: (of, error, attempts, thrown) => this.#listener.onFailure(of, error, attempts, thrown),
      onSuccess: (_, output, writes, attempts, sizeBytes, hasFiles) => {
        if (!hasFiles) this.#keep(output, writes, sizeBytes);
        this.#listener.onSuccess(item, output, writes, attempts, sizeBytes, hasFiles);
      },
    };
    this.#invocation = new Invocation(this.#services, this.#call, listener, this.#slot);
    if (progress === undefined) this.#invocation.start();
    else this.#invocation.resume(progress);
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
      this.#slot.settle(this.#listener.onFailure(this.#call.item, errorMessage(error), 0));
      return;
    }
    this.#listener.onCacheHit(this.#call.item, cached);
    this.#slot.settle({ ok: true });
  }

  #abort(): void {
    if (this.#invocation !== undefined) return this.#invocation.abort();
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#services.budget.release(this.#call.heldBytes);
    this.#slot.settle(this.#listener.onFailure(this.#call.item, STOPPED, 0));
  }
}

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
