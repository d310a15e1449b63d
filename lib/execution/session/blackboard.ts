import type { Json } from '../../common/json/json.js';

/**
 * The store of values by tenant and key, which passes values between tasks and between sub-pipelines (Blackboard).
 *
 * Tenants and keys may be any strings, `__proto__` included. Tenants do not see each other's values. The operations
 * are asynchronous, so that an implementation may be remote; a rejection fails the task that called it.
 */
export interface Blackboard {
  /** Reads all values of the tenant, as own properties. */
  getAll(tenantId: string): Promise<Record<string, Json>>;
  /** Reads the values of those `keys` that exist. */
  readMany(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>>;
  /**
   * Stores a value. With `append`, adds it to the list at the key: creates the list for an absent key, and turns any
   * other value into the first element (D23). Concurrent appends are all kept.
   */
  write(tenantId: string, key: string, value: Json, append?: boolean): Promise<void>;
}
