import { ToolError } from '../../common/errors.js';
import { FairQueue } from '../../common/fair-queue.js';
import { type Limit, SharedLimit } from '../../common/shared-limit.js';

/** Who waits for a slot. */
interface Applicant {
  readonly tenantId: string;
  readonly signal: AbortSignal;
  /** Stops the time limit of the attempt; the returned function lets it go on. */
  readonly pauseTimeout: () => () => void;
}

/** The requests that may be in flight at once (Limits). Those beyond wait in a queue that is fair to tenants (D25). */
export class RequestSlots {
  readonly #inFlight: SharedLimit;
  readonly #waiting = new FairQueue<() => void>();

  constructor(limit: Limit) {
    this.#inFlight = new SharedLimit(limit);
  }

  /** Does the work when there is a slot for it. Rejects with a ToolError when the applicant is stopped before. */
  async run<T>(applicant: Applicant, work: () => Promise<T>): Promise<T> {
    const { tenantId, signal } = applicant;
    if (signal.aborted) throw stoppedError(signal);
    if (this.#waiting.size > 0 || !this.#inFlight.tryAcquire(tenantId)) await this.#wait(applicant);
    try {
      return await work();
    } finally {
      this.#inFlight.release(tenantId);
      this.#admitWaiting();
    }
  }

  async #wait({ tenantId, signal, pauseTimeout }: Applicant): Promise<void> {
    const resumeTimeout = pauseTimeout();
    let onAbort: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        onAbort = () => {
          if (this.#waiting.delete(tenantId, resolve)) reject(stoppedError(signal));
        };
        signal.addEventListener('abort', onAbort);
        this.#waiting.add(tenantId, resolve);
        this.#admitWaiting();
      });
    } finally {
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
      resumeTimeout();
    }
  }

  #admitWaiting(): void {
    let admit: (() => void) | undefined;
    do {
      let admitted = '';
      admit = this.#waiting.next((tenantId) => {
        admitted = tenantId;
        return this.#inFlight.hasRoom(tenantId);
      });
      if (admit === undefined) return;
      this.#inFlight.tryAcquire(admitted);
      admit();
    } while (this.#waiting.size > 0);
  }
}

/** The error of a request whose attempt has ended. */
export function stoppedError({ reason }: AbortSignal): ToolError {
  return new ToolError('the request was stopped', { retryable: false, cause: reason });
}
