import { LinkedSet } from './linked-set.js';

/**
 * A queue per tenant, served round-robin: a tenant's values keep their order, and a tenant with a thousand of them does
 * not delay another's only one (D25). Every operation takes constant time however many values wait.
 */
export class FairQueue<T> {
  readonly #queues = new Map<string, LinkedSet<T>>();
  /** Tenants with queued values; the first one is served next. */
  readonly #rotation = new LinkedSet<string>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(tenantId: string, value: T): void {
    const queue = this.#queues.get(tenantId) ?? new LinkedSet<T>();
    if (!queue.add(value)) return;
    this.#queues.set(tenantId, queue);
    this.#rotation.add(tenantId);
    this.#size++;
  }

  /** Removes and returns the next value of a tenant that `accepts`; undefined when there is none. */
  next(accepts?: (tenantId: string) => boolean): T | undefined {
    for (const tenantId of this.#rotation) {
      if (accepts === undefined || accepts(tenantId)) return this.nextOf(tenantId);
    }
    return undefined;
  }

  /** Removes and returns the tenant's next value; the other tenants come before its next one. */
  nextOf(tenantId: string): T | undefined {
    const value = this.#queues.get(tenantId)?.first;
    if (value === undefined) return undefined;
    this.delete(tenantId, value);
    if (this.#rotation.delete(tenantId)) this.#rotation.add(tenantId);
    return value;
  }

  /** Removes a value from any position. Returns false when it was not queued. */
  delete(tenantId: string, value: T): boolean {
    const queue = this.#queues.get(tenantId);
    if (!queue?.delete(value)) return false;
    this.#size--;
    if (queue.size === 0) {
      this.#queues.delete(tenantId);
      this.#rotation.delete(tenantId);
    }
    return true;
  }

  /** Removes and returns all values. */
  clear(): T[] {
    const values = [...this.#queues.values()].flatMap((queue) => [...queue]);
    for (const tenantId of this.#queues.keys()) this.#rotation.delete(tenantId);
    this.#queues.clear();
    this.#size = 0;
    return values;
  }
}
