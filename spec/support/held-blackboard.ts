import { MemoryBlackboard } from '../../lib/blackboard/memory.js';
import type { Json } from '../../lib/common/json.js';
import { type Deferred, deferred, settle } from './deferred.js';

type Call = 'get_all' | 'read_many' | 'write';

/** A blackboard that holds back the answers to the calls it is told to, until the spec gives them. */
export class HeldBlackboard extends MemoryBlackboard {
  /** Calls that are held back from now on. */
  readonly holds = new Set<Call>();
  readonly waiting: Deferred<void>[] = [];

  constructor(...holds: readonly Call[]) {
    super();
    for (const call of holds) this.holds.add(call);
  }

  override async get_all(tenantId: string): Promise<Record<string, Json>> {
    await this.#wait('get_all');
    return super.get_all(tenantId);
  }

  override async read_many(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>> {
    await this.#wait('read_many');
    return super.read_many(tenantId, keys);
  }

  override async write(tenantId: string, key: string, value: Json, append?: boolean): Promise<void> {
    await this.#wait('write');
    return super.write(tenantId, key, value, append);
  }

  /** Answers the call that has waited longest. */
  async answer(): Promise<void> {
    this.#first().resolve();
    await settle();
  }

  async refuse(message: string): Promise<void> {
    this.#first().reject(new Error(message));
    await settle();
  }

  #first(): Deferred<void> {
    const first = this.waiting.shift();
    if (first === undefined) throw new Error('nobody waits for the blackboard');
    return first;
  }

  #wait(call: Call): Promise<void> | undefined {
    if (!this.holds.has(call)) return undefined;
    const held = deferred<void>();
    this.waiting.push(held);
    return held.promise;
  }
}
