import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import type { Json } from '../../../lib/common/json/json.js';
import { type Deferred, deferred, settle } from '../deferred.js';

type Operation = 'getAll' | 'readMany' | 'write';

/** A blackboard whose selected operations block until the spec releases them or makes them fail. */
export class BlockingBlackboard extends MemoryBlackboard {
  /** The operations that block from now on. */
  readonly blocked = new Set<Operation>();
  readonly waiting: Deferred<void>[] = [];

  constructor(...operations: readonly Operation[]) {
    super();
    for (const operation of operations) this.blocked.add(operation);
  }

  override async getAll(tenantId: string): Promise<Record<string, Json>> {
    await this.#wait('getAll');
    return super.getAll(tenantId);
  }

  override async readMany(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>> {
    await this.#wait('readMany');
    return super.readMany(tenantId, keys);
  }

  override async write(tenantId: string, key: string, value: Json, append?: boolean): Promise<void> {
    await this.#wait('write');
    return super.write(tenantId, key, value, append);
  }

  /** Completes the call that has been blocked longest. */
  async release(): Promise<void> {
    this.#first().resolve();
    await settle();
  }

  async fail(message: string): Promise<void> {
    this.#first().reject(new Error(message));
    await settle();
  }

  #first(): Deferred<void> {
    const first = this.waiting.shift();
    if (first === undefined) throw new Error('no call is blocked');
    return first;
  }

  #wait(operation: Operation): Promise<void> | undefined {
    if (!this.blocked.has(operation)) return undefined;
    const pending = deferred<void>();
    this.waiting.push(pending);
    return pending.promise;
  }
}
