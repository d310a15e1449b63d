import { ToolError } from '../../../common/errors.js';
import { MODEL_LIMITS } from '../../../common/limits.js';
import { formatNumber } from '../../../common/text.js';
import type { ModelAnswer, ModelPurpose, ModelRequest } from '../../../models/model.js';
import type { ModelAccess, ModelCaller } from '../../../models/models.js';

/** The models for one invocation. Bounds its requests and attempts: retries would multiply the repeats and repairs of each. */
export class InvocationModels implements ModelAccess {
  readonly #models: ModelAccess;
  /** The requests of all attempts together, with those that were repeated. */
  #requests = 0;
  readonly #own = new DistinctCount();
  readonly #nested = new DistinctCount();

  constructor(models: ModelAccess) {
    this.#models = models;
  }

  assertConfigured(purpose: ModelPurpose, named: string | undefined): void {
    this.#models.assertConfigured(purpose, named);
  }

  async generate(request: ModelRequest, caller: ModelCaller): Promise<ModelAnswer> {
    // Each attempt has a signal of its own.
    assertAttempts(this.#own.count(caller.signal));
    const onRequest = (): void => {
      this.#requests++;
      if (this.#requests > MODEL_LIMITS.requestsOfInvocation) throw tooManyRequests();
      caller.onRequest?.();
    };
    return await this.#models.generate(request, { ...caller, onRequest });
  }

  /** The models for the pipelines that an attempt runs, whose invocations are bounded one by one. */
  within(attempt: object): ModelAccess {
    const models = this.#models;
    return {
      assertConfigured: (purpose, named) => models.assertConfigured(purpose, named),
      generate: async (request, caller) => {
        assertAttempts(this.#nested.count(attempt));
        return await models.generate(request, caller);
      },
    };
  }
}

/** Counts objects; one that comes several times in a row counts once. */
class DistinctCount {
  #last: object | undefined;
  #count = 0;

  count(next: object): number {
    if (next !== this.#last) this.#count++;
    this.#last = next;
    return this.#count;
  }
}

/** @throws ToolError, not retryable, so that no further attempt begins */
function assertAttempts(attempts: number): void {
  const { attemptsOfInvocation: most } = MODEL_LIMITS;
  if (attempts <= most) return;
  throw ToolError.nonRetryable(
    `${most} attempts have asked language models, as many as may: lower "retry", and find out why they fail`,
  );
}

function tooManyRequests(): ToolError {
  const most = formatNumber(MODEL_LIMITS.requestsOfInvocation);
  return ToolError.nonRetryable(
    `the task has sent ${most} requests to language models, as many as its attempts may send together: ` +
      'ask about fewer pages, or about each document in an item of its own with parallel_over',
  );
}
