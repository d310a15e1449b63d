import { ToolError } from '../common/errors.js';
import { formatMebibytes } from '../common/text.js';

/** The memory that the outputs and blackboard writes of one run may take, all together. */
export class MemoryBudget {
  readonly limitBytes: number;
  #usedBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** The limit for messages: `10 MiB`. */
  get limitText(): string {
    return formatMebibytes(this.limitBytes);
  }

  hasRoomFor(bytes: number): boolean {
    return this.#usedBytes + bytes <= this.limitBytes;
  }

  /** @throws ToolError, not retryable, when the limit is reached */
  reserve(bytes: number): void {
    if (!this.hasRoomFor(bytes)) {
      throw ToolError.nonRetryable(
        `the outputs of the run are together larger than the limit of ${this.limitText}: return less, or files`,
      );
    }
    this.#usedBytes += bytes;
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
