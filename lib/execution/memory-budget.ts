import { ToolError } from '../common/errors.js';

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

  /** In words. */
  get limit(): string {
    return `${(this.limitBytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 1 })} MiB`;
  }

  hasRoomFor(bytes: number): boolean {
    return this.#usedBytes + bytes <= this.limitBytes;
  }

  /** @throws ToolError, not retryable, when the run has no room for it */
  take(bytes: number): void {
    if (!this.hasRoomFor(bytes)) {
      throw new ToolError(
        `the outputs of the run are together larger than the limit of ${this.limit}: return less, or files`,
        { retryable: false },
      );
    }
    this.#usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
