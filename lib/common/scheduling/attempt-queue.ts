import { ToolError } from '../errors.js';
import { FairQueue } from './fair-queue.js';

/** Work that a limiter may hold up, such as an attempt of a task. */
export interface LimitedWork {
  readonly tenant_id: string;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Stops the time limit of the attempt; the returned function lets it go on. */
  readonly pauseTimeout?: () => () => void;
}

/** The attempt of a task, such as the context of a tool. */
export interface LimitedAttempt extends LimitedWork {
  readonly signal: AbortSignal;
}

/** Creates the error of work whose signal has ended its wait. */
export type CreateStopError = (signal: AbortSignal) => ToolError;

/** The error of work that ends because its attempt has ended. */
export function stoppedError(): ToolError {
  return ToolError.nonRetryable('stopped while it waited or worked');
}

/**
 * Work that waits for a limiter, in a queue that is fair to tenants (D25). The timeout of an attempt pauses while it
 * waits, and its signal ends the wait.
 */
export class AttemptQueue {
  readonly #waiting = new FairQueue<() => void>();
  readonly #createStopError: CreateStopError;

  constructor(createStopError: CreateStopError = stoppedError) {
    this.#createStopError = createStopError;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves when {@link resumeNext} has chosen the work. Rejects when its signal aborts.
   *
   * @param onQueued called as soon as the work is in the queue
   * @param onLeft called when its signal has ended the wait
   */
  async wait(
    { tenant_id: tenantId, signal, pauseTimeout }: LimitedWork,
    onQueued?: () => void,
    onLeft?: () => void,
  ): Promise<void> {
    if (signal?.aborted) throw this.#createStopError(signal);
    const resumeTimeout = pauseTimeout?.();
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        if (signal !== undefined) {
          leave = () => {
            if (!this.#waiting.delete(tenantId, resolve)) return;
            onLeft?.();
            reject(this.#createStopError(signal));
          };
          signal.addEventListener('abort', leave);
        }
        this.#waiting.add(tenantId, resolve);
        onQueued?.();
      });
    } finally {
      if (leave !== undefined) signal?.removeEventListener('abort', leave);
      resumeTimeout?.();
    }
  }

  /** Resumes the next work of a tenant that is accepted. Returns false when there is none. */
  resumeNext(accepts?: (tenantId: string) => boolean): boolean {
    const resume = this.#waiting.next(accepts);
    resume?.();
    return resume !== undefined;
  }
}
