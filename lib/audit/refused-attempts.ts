import type { Clock } from '../common/clock.js';
import type { AuditEvent } from './audit-store.js';

/** The length of a window: attempts of one kind in it are one entry, besides the first of them. */
const WINDOW_MS = 60_000;

/** Maximum number of kinds of attempts of a tenant in a window; further ones are counted by what was refused and why. */
const MAX_KINDS = 100;

interface Kind {
  readonly event: AuditEvent;
  /** Attempts that no entry stands for yet. */
  count: number;
}

/**
 * Counts repeated refused attempts, so that a caller who tries again and again adds about two entries a minute of each kind, and
 * a hundred of all kinds. Attempts without a valid key count as those of a tenant of their own.
 */
export class RefusedAttempts {
  readonly #clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly #write: (event: AuditEvent) => void;
  readonly #kinds = new Map<string, Map<string, Kind>>();
  #timer: unknown;

  /** @param write makes an entry */
  constructor(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>, write: (event: AuditEvent) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  add(event: AuditEvent): void {
    const kinds = this.#kinds.get(event.tenantId) ?? new Map<string, Kind>();
    this.#kinds.set(event.tenantId, kinds);
    const isListed = kinds.size < MAX_KINDS || kinds.has(toKey(event));
    const counted = isListed ? event : generalize(event);
    const kind = kinds.get(toKey(counted));
    if (kind !== undefined) {
      kind.count++;
      return;
    }
    kinds.set(toKey(counted), { event: counted, count: 0 });
    this.#write(counted);
    this.#timer ??= this.#clock.setTimeout(() => this.#endWindow(), WINDOW_MS);
  }

  /** Adds the entries of all counted attempts. */
  close(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const kinds of this.#kinds.values()) for (const kind of kinds.values()) this.#writeCounted(kind);
    this.#kinds.clear();
  }

  /** Keeps counting the kinds that were repeated in this window. */
  #endWindow(): void {
    this.#timer = undefined;
    for (const [tenantId, kinds] of this.#kinds) {
      for (const [key, kind] of kinds) {
        if (kind.count === 0) kinds.delete(key);
        else this.#writeCounted(kind);
      }
      if (kinds.size === 0) this.#kinds.delete(tenantId);
    }
    if (this.#kinds.size > 0) this.#timer = this.#clock.setTimeout(() => this.#endWindow(), WINDOW_MS);
  }

  #writeCounted(kind: Kind): void {
    if (kind.count > 0) this.#write({ ...kind.event, count: kind.count });
    kind.count = 0;
  }
}

function toKey({ who, action, object, address, code, status }: AuditEvent): string {
  return JSON.stringify([who.kind, who.name, action, object.kind, object.id, address, code, status]);
}

/** Leaves out what a caller may choose. */
function generalize(event: AuditEvent): AuditEvent {
  const { who, object } = event;
  const name = who.kind === 'key' ? who.name : null;
  return { ...event, who: { ...who, name }, object: { ...object, id: null }, address: undefined };
}
