import type { Clock } from '../common/clock.js';
import type { AuditEvent } from './audit-store.js';

/** The length of a window: attempts of one kind in it are one entry, besides the first of them. */
const WINDOW_MS = 60_000;

/** Maximum number of kinds of attempts of a caller in a window; further ones are counted by what was refused and why. */
const MAX_KINDS_OF_CALLER = 20;

/** Maximum number for all callers of a tenant; further ones are counted without their addresses. */
const MAX_KINDS_OF_TENANT = 400;

interface Kind {
  readonly event: AuditEvent;
  readonly caller: string;
  /** Attempts that no entry stands for yet. */
  count: number;
}

/** The attempts at the things of one tenant in a window. */
class TenantAttempts {
  readonly kinds = new Map<string, Kind>();
  /** Numbers of kinds. A caller is a key at an address, or an address. */
  readonly #callers = new Map<string, number>();

  /** Returns the event as it is counted: the less exactly, the more kinds there are. */
  classify(event: AuditEvent): AuditEvent {
    if (this.kinds.has(toKey(event))) return event;
    const number = this.#callers.get(callerOf(event)) ?? 0;
    if (number < MAX_KINDS_OF_CALLER && this.#hasRoom) return event;
    const general = generalize(event);
    return this.#hasRoom || this.kinds.has(toKey(general)) ? general : { ...general, address: undefined };
  }

  get #hasRoom(): boolean {
    return this.kinds.size < MAX_KINDS_OF_TENANT;
  }

  add(event: AuditEvent): void {
    const caller = callerOf(event);
    this.kinds.set(toKey(event), { event, caller, count: 0 });
    this.#callers.set(caller, (this.#callers.get(caller) ?? 0) + 1);
  }

  delete(key: string, { caller }: Kind): void {
    this.kinds.delete(key);
    const left = (this.#callers.get(caller) ?? 0) - 1;
    if (left > 0) this.#callers.set(caller, left);
    else this.#callers.delete(caller);
  }
}

/**
 * Counts repeated refused attempts, so that a caller who tries again and again adds about two entries a minute of each kind, and
 * some tens of all kinds. Only a caller with tens of addresses or networks can make others lose their addresses, and never their
 * number. Attempts without a valid key count as those of a tenant of their own.
 */
export class RefusedAttempts {
  readonly #clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly #write: (event: AuditEvent) => void;
  readonly #tenants = new Map<string, TenantAttempts>();
  #timer: unknown;

  /** @param write makes an entry */
  constructor(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>, write: (event: AuditEvent) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  add(event: AuditEvent): void {
    const attempts = this.#tenants.get(event.tenantId) ?? new TenantAttempts();
    this.#tenants.set(event.tenantId, attempts);
    const counted = attempts.classify(event);
    const kind = attempts.kinds.get(toKey(counted));
    if (kind !== undefined) {
      kind.count++;
      return;
    }
    attempts.add(counted);
    this.#write(counted);
    this.#timer ??= this.#clock.setTimeout(() => this.#endWindow(), WINDOW_MS);
  }

  /** Adds the entries of all counted attempts. */
  close(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { kinds } of this.#tenants.values()) {
      for (const kind of kinds.values()) this.#writeCounted(kind);
    }
    this.#tenants.clear();
  }

  /** Keeps counting the kinds that were repeated in this window. */
  #endWindow(): void {
    this.#timer = undefined;
    for (const [tenantId, attempts] of this.#tenants) {
      for (const [key, kind] of attempts.kinds) {
        if (kind.count === 0) attempts.delete(key, kind);
        else this.#writeCounted(kind);
      }
      if (attempts.kinds.size === 0) this.#tenants.delete(tenantId);
    }
    if (this.#tenants.size > 0) this.#timer = this.#clock.setTimeout(() => this.#endWindow(), WINDOW_MS);
  }

  #writeCounted(kind: Kind): void {
    if (kind.count > 0) this.#write({ ...kind.event, count: kind.count });
    kind.count = 0;
  }
}

function toKey({ who, action, object, address, code, status }: AuditEvent): string {
  return JSON.stringify([who.kind, who.name, action, object.kind, object.id, address, code, status]);
}

function callerOf({ who, address }: AuditEvent): string {
  return JSON.stringify([who.kind === 'key' ? who.name : null, networkOf(address)]);
}

/** Leaves out what a caller may choose: names, ids, and addresses of its network. */
function generalize(event: AuditEvent): AuditEvent {
  const { who, object, address } = event;
  const name = who.kind === 'key' ? who.name : null;
  return { ...event, who: { ...who, name }, object: { ...object, id: null }, address: networkOf(address) };
}

/** The first half of an address of IPv6, as in `2001:db8::/64`: whoever has one address has all that begin so. */
function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || !address.includes(':') || address.includes('/')) return address;
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':'));
  const groups = address.includes('::')
    ? [...head, ...Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0'), ...tail]
    : head;
  const prefix = groups.slice(0, 4).map((group) => group || '0');
  return `${new URL(`http://[${prefix.join(':')}::]`).hostname.slice(1, -1)}/64`;
}
