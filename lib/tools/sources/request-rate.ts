import { ToolError } from '../../common/errors.js';
import { FairQueue } from '../../common/fair-queue.js';
import type { ToolContext } from '../tool.js';

/** Who waits to send a request. */
type Sender = Pick<ToolContext, 'tenant_id' | 'clock' | 'signal' | 'pauseTimeout'>;

/**
 * Lets requests go no faster than a server allows, for all runs of the process together. Those that wait do so in a queue
 * that is fair to tenants (D25), while the time limits of their attempts are paused.
 */
export class RequestRate {
  readonly #intervalMs: number;
  readonly #waiting = new FairQueue<() => void>();
  /** Monotonic time before which no request may go. */
  #nextMs = Number.NEGATIVE_INFINITY;
  /** Stops the timer of the next turn; undefined when there is none. */
  #stopTimer: (() => void) | undefined;

  /** @param perSecond the largest number of requests in any second */
  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** Resolves when a request may go. Rejects with a ToolError when the attempt has ended before. */
  async turn({ tenant_id: tenantId, clock, signal, pauseTimeout }: Sender): Promise<void> {
    if (signal.aborted) throw stopped();
    const nowMs = clock.monotonicNow();
    if (this.#waiting.size === 0 && nowMs >= this.#nextMs) {
      this.#nextMs = nowMs + this.#intervalMs;
      return;
    }
    const resume = pauseTimeout();
    let onAbort: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        onAbort = () => {
          if (!this.#waiting.delete(tenantId, resolve)) return;
          if (this.#waiting.size === 0) this.#stopTimer?.();
          reject(stopped());
        };
        signal.addEventListener('abort', onAbort);
        this.#waiting.add(tenantId, resolve);
        this.#schedule(clock);
      });
    } finally {
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
      resume();
    }
  }

  #schedule(clock: Sender['clock']): void {
    if (this.#stopTimer !== undefined) return;
    const timer = clock.setTimeout(() => {
      this.#stopTimer = undefined;
      const go = this.#waiting.next();
      if (go === undefined) return;
      this.#nextMs = clock.monotonicNow() + this.#intervalMs;
      go();
      if (this.#waiting.size > 0) this.#schedule(clock);
    }, this.#nextMs - clock.monotonicNow());
    this.#stopTimer = () => {
      clock.clearTimeout(timer);
      this.#stopTimer = undefined;
    };
  }
}

function stopped(): ToolError {
  return ToolError.nonRetryable('stopped while it waited for its turn');
}
