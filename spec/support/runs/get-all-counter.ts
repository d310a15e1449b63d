import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';

/** Counts the calls of `MemoryBlackboard.getAll`, until it is restored. */
export class GetAllCounter {
  count = 0;
  readonly #original = Object.getOwnPropertyDescriptor(MemoryBlackboard.prototype, 'getAll') ?? {};

  constructor() {
    const read = this.#original.value as (this: MemoryBlackboard, tenantId: string) => unknown;
    const increment = (): number => this.count++;
    Object.defineProperty(MemoryBlackboard.prototype, 'getAll', {
      configurable: true,
      value(this: MemoryBlackboard, tenantId: string) {
        increment();
        return read.call(this, tenantId);
      },
    });
  }

  restore(): void {
    Object.defineProperty(MemoryBlackboard.prototype, 'getAll', this.#original);
  }
}
