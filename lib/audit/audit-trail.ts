import { type Clock, toIsoTime } from '../common/clock.js';
import { ellipsize } from '../common/text.js';
import type { AuditEntry, AuditPage } from './audit-entry.js';
import {
  type AuditPart,
  type AuditEvent,
  type AuditLimits,
  type AuditQuery,
  type AuditStore,
  NUMBERS_PER_MS,
} from './audit-store.js';
import { RefusedAttempts } from './refused-attempts.js';

/** A part of the list. */
export interface AuditRequest extends AuditQuery {
  /** Milliseconds since 1970: only entries of this time or later. */
  readonly fromMs?: number | undefined;
  /** Only earlier entries. */
  readonly toMs?: number | undefined;
  readonly limit: number;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

interface TrailOptions {
  readonly store: AuditStore;
  readonly limits: AuditLimits;
  readonly clock: Clock;
  /** Receives every entry, for collectors. */
  readonly onEntry?: ((entry: AuditEntry) => void) | undefined;
}

/** Maximum number of searches in the store for one page. */
const MAX_SEARCHES = 10;

/** Names that callers choose are cut. */
const MAX_LENGTH = 200;
const MAX_NAMES = 100;

/** The append-only list of who did what to which object, from where, and with which result (D95). */
export class AuditTrail {
  readonly #options: TrailOptions;
  readonly #refused: RefusedAttempts;
  #lastNumber: number;

  constructor(options: TrailOptions) {
    this.#options = options;
    this.#lastNumber = options.store.lastNumber;
    this.#refused = new RefusedAttempts(options.clock, (event) => this.#add(event));
  }

  /** Adds a successful event at once. Counts refused and failed events, so that repeated attempts make few entries. */
  record({ address, ...given }: AuditEvent): void {
    const event = { ...given, address: address?.replace(MAPPED, '') };
    if (event.result === 'ok') this.#add(event);
    else this.#refused.add(event);
  }

  /** Resolves when every entry so far is kept. Rejects with `not_ready` when the store has failed. */
  kept(): Promise<void> {
    return this.#options.store.kept();
  }

  /** Reads a page, the newest entries first. @param caller the tenant whose turn it is to read */
  async page(
    { fromMs = 0, toMs, limit, cursor, ...query }: AuditRequest,
    caller: string,
  ): Promise<AuditPage> {
    const { store, limits, clock } = this.#options;
    const first = Math.max(fromMs, clock.now() - limits.ttlMs) * NUMBERS_PER_MS;
    const end = toMs === undefined ? Number.POSITIVE_INFINITY : toMs * NUMBERS_PER_MS;
    let before: number | undefined = Math.min(cursor === undefined ? end : Number(cursor), end);
    const entries: AuditEntry[] = [];
    for (let searches = 0; searches < MAX_SEARCHES; searches++) {
      if (before === undefined || entries.length === limit) break;
      const range = { first, before, limit: limit - entries.length };
      const rows = await store.page(query, range, caller);
      entries.push(...rows.entries);
      before = rows.searchedTo;
    }
    return { entries, next_cursor: before === undefined ? null : String(before) };
  }

  /** Adds the entries of the counted attempts. */
  close(): void {
    this.#refused.close();
  }

  #add(event: AuditEvent): void {
    const { store, clock, onEntry } = this.#options;
    const now = clock.now();
    const number = Math.max(this.#lastNumber + 1, Math.floor(now) * NUMBERS_PER_MS);
    this.#lastNumber = number;
    const entry = toEntry(String(number), now, event);
    store.add({ number, tenantId: event.tenantId, part: partOf(event), entry });
    onEntry?.(entry);
  }
}

function toEntry(id: string, now: number, event: AuditEvent): AuditEntry {
  const { who, action, object, tenantId, address, result, status, code, details = {}, count = 1 } = event;
  return {
    id,
    time: toIsoTime(now),
    who: { kind: who.kind, name: who.name && shorten(who.name) },
    action,
    object: { kind: object.kind, id: object.id && shorten(object.id) },
    tenant_id: tenantId === '' ? null : tenantId,
    address: address === undefined || address === '' ? null : address,
    result,
    status: status ?? null,
    code: code ?? null,
    details: Object.fromEntries(
      Object.entries(details).map(([name, values]) => [name, values.slice(0, MAX_NAMES).map(shorten)]),
    ),
    count,
  };
}

/** The beginning of an address of IPv4 on a socket of IPv6. */
const MAPPED = /^::ffff:(?=\d+\.)/;

function shorten(text: string): string {
  return ellipsize(text, MAX_LENGTH);
}

const STARTS: readonly AuditEntry['action'][] = ['submit', 'rerun', 'read_secrets'];

function partOf({ result, action }: AuditEvent): AuditPart {
  if (result !== 'ok') return 'refusals';
  return STARTS.includes(action) ? 'starts' : 'changes';
}
