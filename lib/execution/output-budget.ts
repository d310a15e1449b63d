import { ToolError } from '../errors.js';

/** What the outputs of one run may take in memory, all together, with what its tools write on the blackboard. */
export class OutputBudget {
  readonly limitBytes: number;
  #usedBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** @throws ToolError, not retryable, when the run has no room for it */
  take(bytes: number): void {
    if (this.#usedBytes + bytes > this.limitBytes) {
      const limit = (this.limitBytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 1 });
      throw new ToolError(
        `the outputs of the run are together larger than the limit of ${limit} MiB: return less, or files`,
        { retryable: false },
      );
    }
    this.#usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
