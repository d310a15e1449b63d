import type { AuditEntry } from './audit-entry.js';

/**
 * The entries of a tenant are in three parts: neither a flood of runs nor one of refused attempts takes the
 * place of the changes.
 */
export const AUDIT_PARTS = ['starts', 'changes', 'refusals'] as const;

export type AuditPart = (typeof AUDIT_PARTS)[number];

/** Something that is audited. */
export interface AuditEvent extends Pick<AuditEntry, 'who' | 'action' | 'object' | 'result'> {
  /** Empty for what belongs to no tenant. */
  readonly tenantId: string;
  readonly address?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  /** Names and ids, never values. */
  readonly details?: AuditEntry['details'] | undefined;
  /** Default 1. */
  readonly count?: number | undefined;
}

/** An entry as it is kept. */
export interface AuditRow {
  /** The time in milliseconds since 1970 times {@link NUMBERS_PER_MS}; more when that number was given already. */
  readonly number: number;
  /** Empty for the entries of no tenant, which have their share as a tenant has. */
  readonly tenantId: string;
  readonly part: AuditPart;
  readonly entry: AuditEntry;
}

/** Entries of one millisecond that have its time in their numbers. */
export const NUMBERS_PER_MS = 1024;

export interface AuditLimits {
  /** The number of entries that are kept. */
  readonly keep: number;
  /** How long an entry is kept, in milliseconds. */
  readonly ttlMs: number;
}

/** Selects entries; a field that is undefined selects all. */
export interface AuditQuery {
  readonly tenantId?: string | undefined;
  readonly who?: { readonly kind: string; readonly name: string | undefined } | undefined;
  readonly action?: AuditEntry['action'] | undefined;
  readonly object?: { readonly kind: string; readonly id: string | undefined } | undefined;
  readonly result?: AuditEntry['result'] | undefined;
}

/** The part of the selected entries that is read: those with numbers from `first`, and below `before`. */
export interface AuditRange {
  readonly first: number;
  readonly before: number;
  readonly limit: number;
}

export interface AuditRows {
  readonly entries: readonly AuditEntry[];
  /** Every selected entry from this number on is among the entries; undefined when nothing is left to search. */
  readonly searchedTo: number | undefined;
}

/** So many entries are looked at by one request, which is a part of a tenth of a second. */
export const AUDIT_SEARCH_LENGTH = 10_000;

/**
 * Keeps the entries of an audit. Where there are more than `keep`, the oldest go of the largest part of the tenant that has
 * most: one that has no more than its share loses none to others.
 */
export interface AuditStore {
  /** The number of the last entry when the store was opened; 0 without any. */
  readonly lastNumber: number;
  add(row: AuditRow): void;
  /** Resolves when every entry so far is kept. Rejects with `not_ready` when the store has failed. */
  kept(): Promise<void>;
  /** @param caller the tenant whose turn it is to read */
  page(query: AuditQuery, range: AuditRange, caller: string): Promise<AuditRows>;
}

export function matchesAudit(
  { tenantId, who, action, object, result }: AuditQuery,
  entry: AuditEntry,
): boolean {
  return (
    (tenantId === undefined || entry.tenant_id === tenantId) &&
    (action === undefined || entry.action === action) &&
    (result === undefined || entry.result === result) &&
    (who === undefined ||
      (entry.who.kind === who.kind && (who.name === undefined || entry.who.name === who.name))) &&
    (object === undefined ||
      (entry.object.kind === object.kind && (object.id === undefined || entry.object.id === object.id)))
  );
}
