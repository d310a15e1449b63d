import { ToolError } from '../common/errors.js';
import { FairQueue } from '../common/fair-queue.js';
import { type Limit, SharedLimit } from '../common/shared-limit.js';
import type { ToolContext } from './tool.js';

/** The attempt that wants to work. */
type Applicant = Pick<ToolContext, 'tenant_id' | 'signal' | 'pauseTimeout'>;

/**
 * Lets a number of invocations work at once, so that what they hold is bounded; others wait, in a queue that is fair to
 * tenants (D25). The timeout of an attempt pauses while it waits, and its signal ends the wait.
 */
export class Turnstile {
  readonly #inside: SharedLimit;
  readonly #waiting = new FairQueue<() => void>();
  readonly #createStopError: (signal: AbortSignal) => ToolError;

  /** @param createStopError of an attempt that ends while it waits */
  constructor(limit: Limit, createStopError: (signal: AbortSignal) => ToolError = stoppedError) {
    this.#inside = new SharedLimit(limit);
    this.#createStopError = createStopError;
  }

  /** Does the work when it is its turn. Rejects with what it rejects with, or when the signal aborts the wait. */
  async pass<T>(applicant: Applicant, work: () => Promise<T>): Promise<T> {
    const { tenant_id: tenantId } = applicant;
    if (this.#waiting.size > 0 || !this.#inside.tryAcquire(tenantId)) await this.#wait(applicant);
    try {
      return await work();
    } finally {
      this.#inside.release(tenantId);
      this.#admit();
    }
  }

  async #wait({ tenant_id: tenantId, signal, pauseTimeout }: Applicant): Promise<void> {
    const resume = pauseTimeout();
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        leave = () => {
          if (this.#waiting.delete(tenantId, resolve)) reject(this.#createStopError(signal));
        };
        this.#waiting.add(tenantId, resolve);
        signal.addEventListener('abort', leave);
        if (signal.aborted) leave();
        else this.#admit();
      });
    } finally {
      if (leave !== undefined) signal.removeEventListener('abort', leave);
      resume();
    }
  }

  #admit(): void {
    for (;;) {
      let tenantId = '';
      const enter = this.#waiting.next((tenant) => {
        tenantId = tenant;
        return this.#inside.hasRoom(tenant);
      });
      if (enter === undefined) return;
      this.#inside.tryAcquire(tenantId);
      enter();
    }
  }
}

function stoppedError(): ToolError {
  return ToolError.nonRetryable('stopped while it waited');
}
