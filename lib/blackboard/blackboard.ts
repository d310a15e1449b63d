import type { Json } from '../common/json.js';

/**
 * The tenant-scoped store that carries values between tasks and between sub-pipelines (Blackboard).
 *
 * Tenants and keys are only names, whatever they spell. A write under one tenant is invisible to every other.
 * All three operations are asynchronous, so that a custom implementation may live elsewhere; a rejected promise
 * fails the task that needed it.
 */
export interface Blackboard {
  /** Every key and value of the tenant, as own properties whatever their names. */
  get_all(tenantId: string): Promise<Record<string, Json>>;
  /** Those of `keys` that exist. */
  read_many(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>>;
  /**
   * Stores a value. With `append`, adds it to the list at the key: an absent key becomes a list of one, and a
   * value that is no list becomes the first of two (D23). Two appends at once both stand afterwards.
   */
  write(tenantId: string, key: string, value: Json, append?: boolean): Promise<void>;
}
