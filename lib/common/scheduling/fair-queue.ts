import { LinkedMap } from '../memory/linked-map.js';

/** The values of one tenant, in their order. */
class TenantQueue<T> {
  readonly tenantId: string;
  readonly values = new LinkedMap<T, T>();

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }
}

/**
 * A queue per tenant, served round-robin: a tenant's values keep their order, and a tenant with a thousand of them does
 * not delay another's only one (D25). Every operation takes constant time however many values wait.
 */
export class FairQueue<T> {
  /** Only of tenants with queued values; the first one is served next. */
  readonly #queues = new LinkedMap<string, TenantQueue<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of values of a tenant. */
  sizeOf(tenantId: string): number {
    return this.#queues.get(tenantId)?.values.size ?? 0;
  }

  add(tenantId: string, value: T): void {
    let queue = this.#queues.get(tenantId);
    if (queue === undefined) this.#queues.add(tenantId, (queue = new TenantQueue(tenantId)));
    if (queue.values.add(value, value)) this.#size++;
  }

  /** Removes and returns the next value of a tenant that `accepts`; undefined when there is none. */
  next(accepts?: (tenantId: string) => boolean): T | undefined {
    const tenantId = this.nextTenant(accepts);
    return tenantId === undefined ? undefined : this.nextOf(tenantId);
  }

  /** The tenant that `next` would serve. */
  nextTenant(accepts?: (tenantId: string) => boolean): string | undefined {
    for (const { tenantId } of this.#queues) {
      if (accepts === undefined || accepts(tenantId)) return tenantId;
    }
    return undefined;
  }

  /** Removes and returns the tenant's next value; the other tenants come before its next one. */
  nextOf(tenantId: string): T | undefined {
    const queue = this.#queues.get(tenantId);
    const value = queue?.values.first;
    if (queue === undefined || value === undefined) return undefined;
    this.delete(tenantId, value);
    if (this.#queues.size > 1 && this.#queues.delete(tenantId)) this.#queues.add(tenantId, queue);
    return value;
  }

  /** Removes a value from any position. Returns false when it was not queued. */
  delete(tenantId: string, value: T): boolean {
    const queue = this.#queues.get(tenantId);
    if (!queue?.values.delete(value)) return false;
    this.#size--;
    if (queue.values.size === 0) this.#queues.delete(tenantId);
    return true;
  }

  /** Removes and returns all values. */
  clear(): T[] {
    const queues = [...this.#queues];
    for (const { tenantId } of queues) this.#queues.delete(tenantId);
    this.#size = 0;
    return queues.flatMap(({ values }) => [...values]);
  }
}
