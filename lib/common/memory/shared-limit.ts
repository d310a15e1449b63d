/** A limit that all tenants share, such as a number of slots or of bytes. */
export interface Limit {
  /** The amount that all tenants may use together. */
  readonly total: number;
  /** The amount that each tenant may use even when the others have used up the total. Default: nothing. */
  readonly guaranteed?: number;
}

const DEFAULT_SHARE_PERCENT = 10;

/** A limit of which each tenant is guaranteed a percentage, rounded up. */
export function shareLimit(total: number, guaranteedPercent: number = DEFAULT_SHARE_PERCENT): Limit {
  return { total, guaranteed: Math.ceil((total * guaranteedPercent) / 100) };
}

/**
 * Lowers a guaranteed percentage so that there is enough for all: one tenant may have used up the limit, and the others
 * have as much again for their guarantees.
 */
export function lowerShare(guaranteedPercent: number, tenants: number): number {
  return tenants < 2 ? guaranteedPercent : Math.min(guaranteedPercent, 100 / (tenants - 1));
}

/**
 * Shares a limit between tenants (D25). A tenant may use everything that is free, and its guaranteed amount even when
 * nothing is free, so that no tenant can lock another out. All tenants together never use more than twice the total.
 */
export class SharedLimit {
  readonly #total: number;
  readonly #guaranteed: number;
  /** Only of tenants that use something. */
  readonly #usedByTenant = new Map<string, number>();
  #used = 0;

  constructor({ total, guaranteed = 0 }: Limit) {
    this.#total = total;
    this.#guaranteed = Math.min(guaranteed, total);
  }

  get used(): number {
    return this.#used;
  }

  get largest(): number {
    return findLargest(this.#usedByTenant.values(), (used) => used) ?? 0;
  }

  usedBy(tenantId: string): number {
    return this.#usedByTenant.get(tenantId) ?? 0;
  }

  /** True when all of it is used: only what tenants are guaranteed may be left. */
  get isFull(): boolean {
    return this.#used >= this.#total;
  }

  /** True when no tenant has room, whatever it uses. */
  get isExhausted(): boolean {
    return this.room <= 0;
  }

  /** The largest amount that all tenants together may still take. */
  get room(): number {
    return (this.#guaranteed === 0 ? 1 : 2) * this.#total - this.#used;
  }

  /** True when the tenant uses what it is guaranteed, or more, but leaves something to others. */
  hasUsedShare(tenantId: string): boolean {
    const used = this.usedBy(tenantId);
    return this.#guaranteed > 0 && used >= this.#guaranteed && used < this.#total;
  }

  isWithinGuarantee(tenantId: string): boolean {
    return this.usedBy(tenantId) <= this.#guaranteed;
  }

  hasRoom(tenantId: string, amount = 1): boolean {
    const used = this.#used + amount;
    if (used <= this.#total) return true;
    return used <= 2 * this.#total && this.usedBy(tenantId) + amount <= this.#guaranteed;
  }

  /** Takes the amount; returns false, and takes nothing, when there is no room for it. */
  tryAcquire(tenantId: string, amount = 1): boolean {
    if (!this.hasRoom(tenantId, amount)) return false;
    this.acquire(tenantId, amount);
    return true;
  }

  /** Takes the amount of what was promised before, whether or not there is room. */
  acquire(tenantId: string, amount = 1): void {
    this.#used += amount;
    this.#usedByTenant.set(tenantId, this.usedBy(tenantId) + amount);
  }

  release(tenantId: string, amount = 1): void {
    this.#used -= amount;
    const left = this.usedBy(tenantId) - amount;
    if (left === 0) this.#usedByTenant.delete(tenantId);
    else this.#usedByTenant.set(tenantId, left);
  }
}

/** Returns the value with the largest measure, such as the tenant that uses most; undefined when none is above zero. */
export function findLargest<T>(values: Iterable<T>, measure: (value: T) => number): T | undefined {
  let largest: T | undefined;
  let most = 0;
  for (const value of values) {
    const size = measure(value);
    if (size <= most) continue;
    most = size;
    largest = value;
  }
  return largest;
}
