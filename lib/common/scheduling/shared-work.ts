/** Work that several callers wait for together. It is aborted when all of them have gone. */
export class SharedWork {
  readonly #controller = new AbortController();
  readonly #done: Promise<void>;
  readonly #onAbandoned: () => void;
  #waiting = 0;

  /**
   * @param begin does the work until its signal aborts
   * @param onAbandoned is called when nobody waits any more: who comes later begins the work anew
   */
  constructor(begin: (signal: AbortSignal) => Promise<void>, onAbandoned: () => void) {
    this.#onAbandoned = onAbandoned;
    this.#done = begin(this.#controller.signal);
    // Everybody who waits for the work may have gone when it fails.
    this.#done.catch(() => undefined);
  }

  /** Resolves when the work is done, and rejects as it does. @param signal of a caller who may go before */
  async wait(signal?: AbortSignal): Promise<void> {
    const leave = (): void => {
      if (--this.#waiting > 0) return;
      this.#onAbandoned();
      this.#controller.abort(signal?.reason);
    };
    this.#waiting++;
    if (signal?.aborted === true) leave();
    signal?.addEventListener('abort', leave, { once: true });
    try {
      await this.#done;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }
}
