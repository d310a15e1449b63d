import type { FailedResult } from '../../../machines/types.js';
import { errorMessage, isNonRetryable, readRetryAfterMs, type ToolError } from '../../common/errors.js';
import { measureRetry } from '../history/fact.js';
import { attemptsOfRound, type Call, failCall, type Layer, LayeredCall, STOPPED } from './call.js';
import { retryDelayMs, taskBackoff } from './retry-delay.js';

/** A call that is made again after a delay when an attempt has failed (rule 13, D18). The slot is free meanwhile. */
class RetriedCall extends LayeredCall {
  #timer: unknown;
  /** True until an attempt begins, and from its end until the next one does. */
  #isWaiting = true;
  #isAborted = false;

  start(): this {
    const { progress } = this.call;
    if (progress?.due === undefined) this.#startAttempt();
    else {
      const remainingMs = Math.max(0, progress.due - this.services.dependencies.clock.now());
      this.#wait(Math.min(remainingMs, progress.delayMs));
    }
    return this;
  }

  #startAttempt(): void {
    this.#isWaiting = false;
    this.makeInner();
  }

  override abort(error?: ToolError): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    if (!this.#isWaiting) return super.abort(error);
    if (this.#timer !== undefined) this.services.dependencies.clock.clearTimeout(this.#timer);
    failCall(this.call, this.outer, STOPPED);
  }

  override onFailure(call: Call, message: string, thrown?: unknown): FailedResult | undefined {
    const isLast = this.#isAborted || attemptsOfRound(call) > call.task.retries;
    if (isLast || isNonRetryable(thrown)) return this.outer.onFailure(call, message, thrown);
    const refusal = this.#reserveRetry(message);
    if (refusal !== undefined) {
      return this.outer.onFailure(call, `${message}; it is not tried again: ${refusal}`, thrown);
    }
    this.#schedule(message, readRetryAfterMs(thrown));
    return undefined;
  }

  /** Takes memory for what a durable run keeps of a retry on the disk, which tenants share. Returns why it cannot. */
  #reserveRetry(message: string): string | undefined {
    if (this.services.history === undefined) return undefined;
    try {
      this.services.journal.budget.reserve(measureRetry(message));
      return undefined;
    } catch (refusal) {
      return errorMessage(refusal);
    }
  }

  #schedule(error: string, askedMs: number): void {
    const { prepared, journal, dependencies } = this.services;
    const { task, item, attempts: attempt, slot } = this.call;
    const backoff = taskBackoff(task, prepared.options.backoff);
    const delayMs = retryDelayMs(attemptsOfRound(this.call), backoff, dependencies.random(), askedMs);
    this.#isWaiting = true;
    this.onRetry(this.call, error, dependencies.clock.now() + Math.ceil(delayMs));
    if (journal.isObserved) {
      const itemField = item === undefined ? {} : { item };
      journal.write({ kind: 'retry', task_id: task.id, ...itemField, attempt, delay_ms: delayMs, error });
    }
    // A listener of the event may have aborted the call, which has settled then.
    if (this.#isAborted) return;
    this.#wait(delayMs);
    slot.wait();
  }

  #wait(delayMs: number): void {
    this.#timer = this.services.dependencies.clock.setTimeout(() => {
      this.onDue(this.call);
      this.call.slot.resume(() => {
        if (!this.#isAborted) this.#startAttempt();
      });
    }, delayMs);
  }
}

/** Makes further attempts when one has failed, where the task has `retry`. */
export const retry: Layer = (services, next, { retries }) =>
  retries === 0 ? next : (call, listener) => new RetriedCall(services, call, listener, next).start();
