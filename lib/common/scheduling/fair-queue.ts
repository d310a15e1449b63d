import { LinkedMap } from '../memory/linked-map.js';

/** The values of one priority, in the order in which they came. */
interface Level<T> {
  readonly priority: number;
  readonly values: LinkedMap<T, T>;
}

/** The values of one tenant: those of the highest priority first. */
class TenantQueue<T> {
  readonly tenantId: string;
  size = 0;
  /** Only of priorities with values, the highest first. */
  readonly #levels: Level<T>[] = [];

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  get first(): T | undefined {
    return this.#levels[0]?.values.first;
  }

  has(value: T): boolean {
    return this.#levels.some(({ values }) => values.has(value));
  }

  /** Returns false, and changes nothing, when the value waits already. */
  add(value: T, priority: number): boolean {
    if (this.has(value)) return false;
    this.#levelOf(priority).values.add(value, value);
    this.size++;
    return true;
  }

  #levelOf(priority: number): Level<T> {
    const at = this.#levels.findIndex((level) => level.priority <= priority);
    const found = this.#levels[at];
    if (found?.priority === priority) return found;
    const level = { priority, values: new LinkedMap<T, T>() };
    this.#levels.splice(at < 0 ? this.#levels.length : at, 0, level);
    return level;
  }

  delete(value: T): boolean {
    const at = this.#levels.findIndex(({ values }) => values.delete(value));
    if (at < 0) return false;
    this.size--;
    if (this.#levels[at]?.values.size === 0) this.#levels.splice(at, 1);
    return true;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const { values } of this.#levels) yield* values;
  }
}

/**
 * A queue per tenant, served round-robin: a tenant's values keep their order, those of a higher priority first, and a tenant
 * with a thousand of them does not delay another's only one (D25). Every operation takes constant time however many values
 * wait; it may look at each of the priorities that wait.
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
    return this.#queues.get(tenantId)?.size ?? 0;
  }

  has(tenantId: string, value: T): boolean {
    return this.#queues.get(tenantId)?.has(value) === true;
  }

  /** @param priority only orders the values of the tenant among themselves */
  add(tenantId: string, value: T, priority = 0): void {
    let queue = this.#queues.get(tenantId);
    if (queue === undefined) this.#queues.add(tenantId, (queue = new TenantQueue(tenantId)));
    if (queue.add(value, priority)) this.#size++;
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
    const value = queue?.first;
    if (queue === undefined || value === undefined) return undefined;
    this.delete(tenantId, value);
    if (this.#queues.size > 1 && this.#queues.delete(tenantId)) this.#queues.add(tenantId, queue);
    return value;
  }

  /** Removes a value from any position. Returns false when it was not queued. */
  delete(tenantId: string, value: T): boolean {
    const queue = this.#queues.get(tenantId);
    if (!queue?.delete(value)) return false;
    this.#size--;
    if (queue.size === 0) this.#queues.delete(tenantId);
    return true;
  }

  /** Removes and returns all values. */
  clear(): T[] {
    const queues = [...this.#queues];
    for (const { tenantId } of queues) this.#queues.delete(tenantId);
    this.#size = 0;
    return queues.flatMap((queue) => [...queue]);
  }
}
