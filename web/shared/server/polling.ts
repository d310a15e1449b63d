import type { Waiter } from './feed.js';

/** After so many failures, the time between two reads does not grow any more. */
const MOST_DOUBLINGS = 4;

interface PollingOptions {
  /** Returns whether it has succeeded. The signal aborts when the polling is closed. */
  readonly read: (signal: AbortSignal) => Promise<boolean>;
  /** Time from the end of a read to the next one; 0 reads once. It doubles with each failure, up to 16 times. */
  readonly pauseMs: number;
  /** Returns true when a read is due after a pause; else another pause follows. */
  readonly isDue: () => boolean;
  readonly waiter: Waiter;
}

/** Reads again and again, one read at a time, whatever happens meanwhile. */
export class Polling {
  readonly #options: PollingOptions;
  readonly #end = new AbortController();
  #pause = new AbortController();

  constructor(options: PollingOptions) {
    this.#options = options;
  }

  /** Reads until the polling is closed. */
  async run(): Promise<void> {
    const { read, pauseMs } = this.#options;
    let failures = 0;
    while (!this.#end.signal.aborted) {
      failures = (await read(this.#end.signal)) ? 0 : Math.min(failures + 1, MOST_DOUBLINGS);
      if (pauseMs === 0) return;
      await this.#waitUntilDue(pauseMs * 2 ** failures);
    }
  }

  /** Ends a pause; a read that is under way is as good as the next one. */
  hurry(): void {
    this.#pause.abort();
  }

  close(): void {
    this.#end.abort();
    this.#pause.abort();
  }

  async #waitUntilDue(milliseconds: number): Promise<void> {
    const { waiter, isDue } = this.#options;
    while (!this.#end.signal.aborted) {
      this.#pause = new AbortController();
      await waiter.wait(milliseconds, this.#pause.signal);
      if (isDue()) return;
    }
  }
}
