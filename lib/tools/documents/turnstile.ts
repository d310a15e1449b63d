import { ToolError } from '../../common/errors.js';
import { FairQueue } from '../../common/fair-queue.js';
import { type Limit, SharedLimit } from '../../common/shared-limit.js';
import type { ToolContext } from '../tool.js';

interface Waiting {
  readonly enter: () => void;
}

/**
 * Lets a number of invocations work at once, so that what they hold in memory is bounded; others wait, in a queue that is
 * fair to tenants (D25). The timeout of an attempt pauses while it waits, and its signal ends the wait.
 */
export class Turnstile {
  readonly #inside: SharedLimit;
  readonly #waiting = new FairQueue<Waiting>();

  constructor(limit: Limit) {
    this.#inside = new SharedLimit(limit);
  }

  /** Does the work when it is its turn. Rejects with what it rejects with, or when the signal aborts the wait. */
  async pass<T>(
    context: Pick<ToolContext, 'tenant_id' | 'signal' | 'pauseTimeout'>,
    work: () => Promise<T>,
  ): Promise<T> {
    const { tenant_id: tenantId } = context;
    if (!this.#inside.tryAcquire(tenantId)) await this.#wait(context);
    try {
      return await work();
    } finally {
      this.#inside.release(tenantId);
      this.#admit();
    }
  }

  async #wait({
    tenant_id: tenantId,
    signal,
    pauseTimeout,
  }: Pick<ToolContext, 'tenant_id' | 'signal' | 'pauseTimeout'>): Promise<void> {
    const resume = pauseTimeout();
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const waiting: Waiting = { enter: resolve };
        leave = () => {
          if (this.#waiting.delete(tenantId, waiting))
            reject(ToolError.nonRetryable('stopped while it waited'));
        };
        this.#waiting.add(tenantId, waiting);
        signal.addEventListener('abort', leave);
        if (signal.aborted) leave();
      });
    } finally {
      if (leave !== undefined) signal.removeEventListener('abort', leave);
      resume();
    }
  }

  #admit(): void {
    for (;;) {
      let tenantId = '';
      const next = this.#waiting.next((tenant) => {
        tenantId = tenant;
        return this.#inside.hasRoom(tenant);
      });
      if (next === undefined) return;
      this.#inside.tryAcquire(tenantId);
      next.enter();
    }
  }
}
