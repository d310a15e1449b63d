import type Database from 'libsql';
import type { AuditEntry } from '../../../audit/audit-entry.js';
import {
  AUDIT_PARTS,
  AUDIT_SEARCH_LENGTH,
  type AuditLimits,
  type AuditPart,
  type AuditQuery,
  type AuditRange,
  type AuditRow,
  type AuditRows,
  matchesAudit,
  NUMBERS_PER_MS,
} from '../../../audit/audit-store.js';
import { prepare, selectAll, selectOne } from './thread/statements.js';

/** A commit deletes so many entries more than it adds: others wait for it. */
const MOST_DELETED = 100;

type Usage = { readonly tenant: string } & Readonly<Record<AuditPart, number>>;

interface KeptRow {
  readonly number: number;
  readonly tenant: string;
  readonly part: AuditPart;
}

/** The entries of the audit in the file, and how many of them each tenant has. */
export class AuditTable {
  readonly lastNumber: number;
  readonly #database: Database.Database;
  readonly #limits: AuditLimits;
  #size: number;

  constructor(database: Database.Database, limits: AuditLimits) {
    this.#database = database;
    this.#limits = limits;
    this.#size = selectOne<{ n: number }>(database, `SELECT total(${SUM}) AS n FROM audit_usage`)?.n ?? 0;
    this.lastNumber = selectOne<{ n: number | null }>(database, 'SELECT max(number) AS n FROM audit')?.n ?? 0;
  }

  /** Adds rows as a part of a transaction, and deletes some of those that exceed the limits. */
  add(rows: readonly AuditRow[]): void {
    const last = rows.at(-1);
    if (last === undefined) return;
    const insert = prepare(
      this.#database,
      'INSERT INTO audit (number, tenant, part, entry) VALUES (?, ?, ?, ?)',
    );
    for (const { number, tenantId, part, entry } of rows) {
      insert.run(number, tenantId, part, JSON.stringify(entry));
      this.#count({ tenant: tenantId, part }, 1);
    }
    const room = rows.length + MOST_DELETED;
    const expired = this.#deleteExpired(last.number - this.#limits.ttlMs * NUMBERS_PER_MS, room);
    this.#deleteExcess(room - expired);
  }

  #deleteExpired(before: number, most: number): number {
    const sql = 'SELECT number, tenant, part FROM audit WHERE number < ? ORDER BY number LIMIT ?';
    const expired = selectAll<KeptRow>(this.#database, sql, before, most);
    this.#delete(expired);
    return expired.length;
  }

  #deleteExcess(most: number): void {
    for (let left = Math.min(most, this.#size - this.#limits.keep); left > 0; ) {
      const [largest, second] = selectAll<Usage>(
        this.#database,
        `SELECT tenant, starts, changes, refusals FROM audit_usage ORDER BY ${SUM} DESC LIMIT 2`,
      );
      if (largest === undefined) return;
      // As many as the tenant has more than the next one, so that nobody gets below its share.
      const few = Math.max(1, sumOf(largest) - (second === undefined ? 0 : sumOf(second)));
      const part = AUDIT_PARTS.reduce((longest, each) => (largest[each] > largest[longest] ? each : longest));
      const oldest = selectAll<KeptRow>(
        this.#database,
        'SELECT number, tenant, part FROM audit INDEXED BY audit_of_part WHERE tenant = ? AND part = ? ORDER BY number LIMIT ?',
        largest.tenant,
        part,
        Math.min(left, few),
      );
      if (oldest.length === 0) return;
      this.#delete(oldest);
      left -= oldest.length;
    }
  }

  #delete(rows: readonly KeptRow[]): void {
    const remove = prepare(this.#database, 'DELETE FROM audit WHERE number = ?');
    for (const row of rows) {
      remove.run(row.number);
      this.#count(row, -1);
    }
  }

  #count({ tenant, part }: Pick<KeptRow, 'tenant' | 'part'>, by: 1 | -1): void {
    this.#size += by;
    const counts = AUDIT_PARTS.map((each) => (each === part ? by : 0));
    prepare(
      this.#database,
      `INSERT INTO audit_usage (tenant, starts, changes, refusals) VALUES (?, ?, ?, ?)
       ON CONFLICT (tenant) DO UPDATE SET ${part} = ${part} + excluded.${part}`,
    ).run(tenant, ...counts);
    if (by < 0)
      prepare(this.#database, `DELETE FROM audit_usage WHERE tenant = ? AND ${SUM} <= 0`).run(tenant);
  }
}

const SUM = '(starts + changes + refusals)';

function sumOf({ starts, changes, refusals }: Usage): number {
  return starts + changes + refusals;
}

/** Looks at a bounded number of entries, the newest first. */
export function readAudit(
  database: Database.Database,
  query: AuditQuery,
  { first, before, limit }: AuditRange,
): AuditRows {
  const rows = selectAll<{ readonly number: number; readonly entry: string }>(
    database,
    'SELECT number, entry FROM audit WHERE number >= ? AND number < ? ORDER BY number DESC LIMIT ?',
    first,
    Math.min(before, Number.MAX_SAFE_INTEGER),
    AUDIT_SEARCH_LENGTH,
  );
  const entries: AuditEntry[] = [];
  for (const { number, entry: text } of rows) {
    const entry = JSON.parse(text) as AuditEntry;
    if (!matchesAudit(query, entry)) continue;
    entries.push(entry);
    if (entries.length === limit) return { entries, searchedTo: number };
  }
  return { entries, searchedTo: rows.length < AUDIT_SEARCH_LENGTH ? undefined : rows.at(-1)?.number };
}
