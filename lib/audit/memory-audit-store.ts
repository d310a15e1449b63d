import { findLargest } from '../common/memory/shared-limit.js';
import {
  AUDIT_SEARCH_LENGTH,
  type AuditPart,
  type AuditLimits,
  type AuditQuery,
  type AuditRange,
  type AuditRow,
  type AuditRows,
  type AuditStore,
  matchesAudit,
  NUMBERS_PER_MS,
} from './audit-store.js';

/** Further tenants share one place: whoever may name any tenant could have as many of them as entries. */
const MAX_TENANTS = 1000;
const OTHERS = '*';

interface Slot {
  readonly row: AuditRow;
  isGone: boolean;
}

/** The rows of one part of a tenant, the oldest first. */
class PartRows {
  #slots: Slot[] = [];
  #gone = 0;

  get size(): number {
    return this.#slots.length - this.#gone;
  }

  get first(): Slot | undefined {
    return this.#slots[this.#gone];
  }

  add(slot: Slot): void {
    this.#slots.push(slot);
  }

  shift(): void {
    const { first } = this;
    if (first === undefined) return;
    first.isGone = true;
    this.#gone++;
    if (2 * this.#gone <= this.#slots.length) return;
    this.#slots = this.#slots.slice(this.#gone);
    this.#gone = 0;
  }
}

type Parts = Map<AuditPart, PartRows>;

/** Keeps the entries of a server without a store, until it ends. */
export class MemoryAuditStore implements AuditStore {
  readonly #limits: AuditLimits;
  readonly #tenants = new Map<string, Parts>();
  /** In the order of their numbers. */
  #slots: Slot[] = [];
  #size = 0;
  readonly lastNumber = 0;

  constructor(limits: AuditLimits) {
    this.#limits = limits;
  }

  add(row: AuditRow): void {
    const slot = { row, isGone: false };
    this.#slots.push(slot);
    this.#partOf(row).add(slot);
    this.#size++;
    this.#dropExpired(row.number - this.#limits.ttlMs * NUMBERS_PER_MS);
    while (this.#size > this.#limits.keep) this.#dropOldestOfLargest();
    if (this.#slots.length > 2 * this.#size) this.#slots = this.#slots.filter(({ isGone }) => !isGone);
  }

  async kept(): Promise<void> {}

  async page(query: AuditQuery, { first, before, limit }: AuditRange): Promise<AuditRows> {
    const entries = [];
    let index = this.#indexOf(before);
    const last = Math.max(0, index - AUDIT_SEARCH_LENGTH);
    while (index > last && entries.length < limit) {
      const { row, isGone } = this.#slots[--index] as Slot;
      if (row.number < first) return { entries, searchedTo: undefined };
      if (!isGone && matchesAudit(query, row.entry)) entries.push(row.entry);
    }
    return { entries, searchedTo: index === 0 ? undefined : this.#slots[index]?.row.number };
  }

  /** The number of rows below a number. */
  #indexOf(number: number): number {
    let [low, high] = [0, this.#slots.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#slots[middle]?.row.number ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #partOf({ tenantId, part }: AuditRow): PartRows {
    const isNew = !this.#tenants.has(tenantId);
    const place = isNew && this.#tenants.size >= MAX_TENANTS ? OTHERS : tenantId;
    let parts = this.#tenants.get(place);
    if (parts === undefined) this.#tenants.set(place, (parts = new Map()));
    let rows = parts.get(part);
    if (rows === undefined) parts.set(part, (rows = new PartRows()));
    return rows;
  }

  #dropExpired(before: number): void {
    // The slots are in the order of their numbers: most often, nothing has expired.
    if ((this.#slots[0]?.row.number ?? before) >= before) return;
    for (const [tenantId, parts] of this.#tenants) {
      for (const rows of parts.values()) {
        while (rows.first !== undefined && rows.first.row.number < before) this.#drop(tenantId, parts, rows);
      }
    }
  }

  #dropOldestOfLargest(): void {
    const largest = findLargest(this.#tenants, ([, parts]) => sizeOf(parts));
    if (largest === undefined) return;
    const [tenantId, parts] = largest;
    const rows = findLargest(parts.values(), ({ size }) => size);
    if (rows !== undefined) this.#drop(tenantId, parts, rows);
  }

  #drop(tenantId: string, parts: Parts, rows: PartRows): void {
    rows.shift();
    this.#size--;
    if (sizeOf(parts) === 0) this.#tenants.delete(tenantId);
  }
}

function sizeOf(parts: Parts): number {
  let size = 0;
  for (const rows of parts.values()) size += rows.size;
  return size;
}
