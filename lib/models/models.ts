import { type Clock, delay } from '../common/clock.js';
import { errorMessage, ToolError, WavetrainError } from '../common/errors.js';
import { MODEL_LIMITS } from '../common/limits.js';
import { RequestTimer } from '../common/requests/request-timer.js';
import { ConcurrencyLimiter } from '../common/scheduling/concurrency-limiter.js';
import { shareLimit } from '../common/memory/shared-limit.js';
import {
  type ModelAnswer,
  ModelError,
  type ModelProvider,
  type ModelPurpose,
  type ModelRequest,
  type ProviderRequest,
  type TokenCounts,
} from './model.js';
import { type ModelConfig, PROVIDER_NAMES, type ProviderName } from '../common/config/model-config.js';
import { AnswerParts } from './answer-parts.js';
import { addCost } from './costs.js';
import { assertRequestSize } from './request-size.js';
import { chooseModel, type ModelName } from './choose-model.js';

/** The attempt, or the command, for which a model is asked. */
export interface ModelCaller {
  readonly tenant_id: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Stops the time limit of the attempt; the returned function lets it go on. */
  readonly pauseTimeout: () => () => void;
  /** Called before each request is sent, also before one that is repeated. */
  readonly onRequest?: () => void;
  /** Called when a model is asked; the returned function, at least once, when its first text arrives or the request ends. */
  readonly onWait?: ((model: string) => () => void) | undefined;
  /** Called with the tokens of every answer; of one that was cut with those that the provider has reported. */
  readonly onUsage: (model: string, usage: TokenCounts) => void;
}

/** The places of requests in flight to each provider. */
export type ModelLimiters = Map<ProviderName, ConcurrencyLimiter>;

export interface ModelsOptions {
  readonly config: ModelConfig;
  /** Creates a provider when it is asked first. */
  readonly loadProvider: (name: ProviderName) => Promise<ModelProvider>;
  /** Throws `provider_misconfigured` when there is no file with answers for `mock/recorded`. */
  readonly assertAnswers?: () => void;
  /** Requests in flight to one provider. Default {@link MODEL_LIMITS}. */
  readonly inFlight?: number;
  /** Limiters that several `Models` share, so that their requests count together. Default: own ones. */
  readonly limiters?: ModelLimiters;
  /** Percentage of the requests in flight that every tenant is guaranteed. Default 10. */
  readonly tenantShare?: number;
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
}

/** The language models, as tools and `compile` see them. */
export interface ModelAccess {
  /**
   * Checks what can be known before anything is asked.
   *
   * @param named the model that a task names; undefined for the one of the purpose
   * @throws WavetrainError `provider_misconfigured` with what to set
   */
  assertConfigured(purpose: ModelPurpose, named: string | undefined): void;
  /** As `generate` of a tool's context does ({@link ToolModels}). */
  generate(request: ModelRequest, caller: ModelCaller): Promise<ModelAnswer>;
}

/** Asks language models: chooses the provider, bounds what is in flight, and tries again. */
export class Models implements ModelAccess {
  readonly #options: ModelsOptions;
  readonly #providers = new Map<ProviderName, Promise<ModelProvider>>();
  readonly #limiters: ModelLimiters;

  constructor(options: ModelsOptions) {
    this.#options = options;
    this.#limiters = options.limiters ?? new Map();
  }

  assertConfigured(purpose: ModelPurpose, named: string | undefined): void {
    const { provider, model } = chooseModel(this.#options.config, purpose, named);
    if (provider === 'mock' && model === 'recorded') this.#options.assertAnswers?.();
  }

  async generate(request: ModelRequest, caller: ModelCaller): Promise<ModelAnswer> {
    const { model: named, purpose = 'job', onText, ...rest } = request;
    const chosen = this.#choose(purpose, named);
    assertRequestSize(request);
    const provider = await this.#loadProvider(chosen.provider);
    const limiter = this.#limiterOf(chosen.provider);
    const name = `${chosen.provider}/${chosen.model}`;
    const stopWaiting = caller.onWait?.(name);
    const onFirstText =
      stopWaiting &&
      ((text: string): void => {
        stopWaiting();
        onText?.(text);
      });
    const ask = (): Promise<ModelAnswer> =>
      limiter.run(caller, () => this.#ask(provider, chosen, rest, onFirstText ?? onText, caller));
    try {
      return await this.#askUntilAnswered(ask, name, caller);
    } finally {
      stopWaiting?.();
    }
  }

  #choose(purpose: ModelPurpose, named: string | undefined): ModelName {
    try {
      return chooseModel(this.#options.config, purpose, named);
    } catch (error) {
      if (error instanceof WavetrainError) throw ToolError.nonRetryable(error.message, error);
      throw error;
    }
  }

  /**
   * Loads the providers that callers may name, for a server: to load one between the requests of others holds the event loop for
   * 50 ms. Never rejects: the first request of a provider that cannot be loaded says why.
   */
  async preload(): Promise<void> {
    const { allowed = [] } = this.#options.config;
    const names = PROVIDER_NAMES.filter((name) => allowed.some((model) => model.startsWith(`${name}/`)));
    await Promise.allSettled(names.map((name) => this.#loadProvider(name)));
  }

  #loadProvider(name: ProviderName): Promise<ModelProvider> {
    let provider = this.#providers.get(name);
    if (provider === undefined) {
      provider = this.#options.loadProvider(name);
      this.#providers.set(name, provider);
      provider.catch(() => this.#providers.delete(name));
    }
    return provider;
  }

  #limiterOf(name: ProviderName): ConcurrencyLimiter {
    let limiter = this.#limiters.get(name);
    if (limiter === undefined) {
      const { inFlight = MODEL_LIMITS.inFlight, tenantShare } = this.#options;
      limiter = new ConcurrencyLimiter(shareLimit(inFlight, tenantShare));
      this.#limiters.set(name, limiter);
    }
    return limiter;
  }

  /** Asks again after a temporary error: after a delay that doubles, or later when the provider wants that. */
  async #askUntilAnswered(
    ask: () => Promise<ModelAnswer>,
    model: string,
    caller: ModelCaller,
  ): Promise<ModelAnswer> {
    for (let retry = 0; ; retry++) {
      try {
        return await ask();
      } catch (error) {
        if (!ModelError.is(error)) throw error;
        if (!error.isTemporary || retry === MODEL_LIMITS.retries || caller.signal.aborted)
          throw toToolError(error, model, retry);
        await this.#waitForRetry(retry, error, caller);
      }
    }
  }

  async #waitForRetry(retry: number, { retryAfterMs }: ModelError, caller: ModelCaller): Promise<void> {
    const random = (this.#options.random ?? Math.random)();
    const ownMs = MODEL_LIMITS.retryDelayMs * 2 ** retry * (1 + random / 2);
    // Callers that are given the same time come back one after another.
    const wantedMs = Math.min(retryAfterMs ?? 0, MODEL_LIMITS.longestRetryDelayMs) * (1 + random / 10);
    const delayMs = Math.max(ownMs, wantedMs);
    // A provider that wants to be left alone is no work of the attempt.
    const resumeTimeout = caller.pauseTimeout();
    try {
      await delay(delayMs, caller);
    } finally {
      resumeTimeout();
    }
  }

  async #ask(
    provider: ModelProvider,
    { provider: prefix, model }: ModelName,
    request: Omit<ProviderRequest, 'model' | 'tenant_id'>,
    onText: ModelRequest['onText'],
    caller: ModelCaller,
  ): Promise<ModelAnswer> {
    caller.onRequest?.();
    const timer = new RequestTimer(caller.clock, MODEL_LIMITS, caller.signal);
    const name = `${prefix}/${model}`;
    const parts = new AnswerParts(name, onText);
    /** Of an answer that is cut; the end of one counts itself. */
    let reported: TokenCounts | undefined;
    try {
      const asked = { ...request, model, tenant_id: caller.tenant_id };
      for await (const part of provider.stream(asked, timer.signal)) {
        timer.touch();
        parts.count();
        if (part.type === 'text') parts.add(part.text);
        else if (part.type === 'usage') reported = part.usage;
        else if (part.type === 'end') {
          reported = part.usage;
          // Before the tokens: whoever receives both writes the text of an answer when the tokens are known.
          const text = parts.end();
          reported = undefined;
          const usage = addCost(part.usage, name, this.#options.config.prices);
          caller.onUsage(name, usage);
          return { text, model: name, finish: part.finish, usage };
        }
      }
      throw new ModelError(
        'protocol',
        'the answer was cut: the connection ended before the model had finished',
      );
    } catch (error) {
      if (timer.signal.aborted) parts.drop();
      else parts.flush();
      throw timer.signal.aborted ? stoppedBy(timer.signal, caller.signal) : error;
    } finally {
      timer.stop();
      if (reported !== undefined) caller.onUsage(name, addCost(reported, name, this.#options.config.prices));
    }
  }
}

/** Returns why a request was stopped: by the attempt, for its reason, or by a time limit; then it may be repeated. */
function stoppedBy({ reason }: AbortSignal, attempt: AbortSignal): Error {
  if (attempt.aborted) return ToolError.nonRetryable('the request to the model was stopped', attempt.reason);
  return new ModelError('timeout', errorMessage(reason));
}

function toToolError(error: ModelError, model: string, retries: number): ToolError {
  const times = retries === 0 ? '' : ` (tried ${retries + 1} times)`;
  return new ToolError(`${model}: ${error.message}${times}`, {
    retryable: error.isTemporary,
    cause: error,
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  });
}
