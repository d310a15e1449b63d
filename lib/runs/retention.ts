import type { Clock } from '../common/clock.js';
import { LinkedMap } from '../common/memory/linked-map.js';
import type { MemoryPool } from '../common/memory/memory-pool.js';
import { findLargest } from '../common/memory/shared-limit.js';

/** Limits on settled runs (D26). */
export interface RetentionLimits {
  readonly maxRuns: number;
  /** How long a settled run is kept, in milliseconds. */
  readonly ttlMs: number;
  /** Memory of settled runs, in bytes. Default: unlimited. */
  readonly maxBytes?: number;
}

export const UNLIMITED_RETENTION: RetentionLimits = {
  maxRuns: Number.POSITIVE_INFINITY,
  ttlMs: Number.POSITIVE_INFINITY,
};

/** Why a settled run has left the memory: a limit of {@link RetentionLimits}, or runs that need the memory. */
export type EvictionReason = 'age' | 'number' | 'bytes' | 'memory';

interface SettledRun {
  /** True while a response is being sent, so that evicting the run would free no memory. */
  readonly isBeingRead: boolean;
  readonly run: {
    readonly id: string;
    readonly tenantId: string;
    readonly budget: { readonly usedBytes: number };
    /** Milliseconds since 1970, UTC. */
    readonly finishedAt: number | null;
  };
}

interface KeptRun<R> {
  readonly entry: R;
  readonly settledAt: number;
  readonly bytes: number;
}

class TenantRuns<R extends SettledRun> {
  readonly tenantId: string;
  /** In the order in which they settled. */
  readonly runs = new LinkedMap<string, KeptRun<R>>();
  bytes = 0;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  /** The run that settled first, of those whose memory is free once they are evicted. */
  get firstToReclaim(): KeptRun<R> | undefined {
    for (const run of this.runs) if (!run.entry.isBeingRead) return run;
    return undefined;
  }
}

/**
 * Limits how many settled runs are kept and for how long, and evicts more of them when their memory is needed (D26). A
 * tenant that keeps much loses its oldest runs before a tenant that keeps little.
 */
export class Retention<R extends SettledRun> {
  /** By run id, in the order in which they settled. */
  readonly #runs = new LinkedMap<string, KeptRun<R>>();
  /** Only of tenants with settled runs. */
  readonly #tenants = new Map<string, TenantRuns<R>>();
  readonly #limits: RetentionLimits;
  readonly #clock: Clock;
  readonly #memory: MemoryPool | undefined;
  readonly #onEvict: (entry: R, reason: EvictionReason) => void;
  #bytes = 0;

  /** @param memory of all runs, which settled runs free when others need it */
  constructor(
    limits: RetentionLimits,
    clock: Clock,
    memory: MemoryPool | undefined,
    onEvict: (entry: R, reason: EvictionReason) => void,
  ) {
    this.#limits = limits;
    this.#clock = clock;
    this.#memory = memory;
    this.#onEvict = onEvict;
    memory?.onPressure((tenantId) => this.#reclaim(tenantId));
  }

  /** Adds a run that has just settled, which may evict others, or this one. */
  add(entry: R): void {
    this.#add(entry, this.#clock.monotonicNow());
    this.sweep();
  }

  /** Adds runs that have settled in another process (D68). The time since then counts, as far as the clock knows it. */
  restore(entries: readonly R[]): void {
    if (entries.length === 0) return;
    const [now, monotonicNow] = [this.#clock.now(), this.#clock.monotonicNow()];
    // In the order in which they settled, also where a clock that was set back gives them one age.
    const inOrder = entries.toSorted((a, b) => (a.run.finishedAt ?? now) - (b.run.finishedAt ?? now));
    const restored = inOrder.map((entry) => {
      return { entry, settledAt: monotonicNow - Math.max(0, now - (entry.run.finishedAt ?? now)) };
    });
    const present = [...this.#runs];
    for (const { entry } of present) this.delete(entry);
    for (const { entry, settledAt } of [...restored, ...present].sort((a, b) => a.settledAt - b.settledAt))
      this.#add(entry, settledAt);
    this.sweep();
  }

  #add(entry: R, settledAt: number): void {
    const { id, tenantId, budget } = entry.run;
    const run = { entry, settledAt, bytes: budget.usedBytes };
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) this.#tenants.set(tenantId, (tenant = new TenantRuns<R>(tenantId)));
    tenant.runs.add(id, run);
    tenant.bytes += run.bytes;
    this.#bytes += run.bytes;
    this.#runs.add(id, run);
  }

  delete(entry: R): void {
    const { id, tenantId } = entry.run;
    const run = this.#runs.get(id);
    const tenant = this.#tenants.get(tenantId);
    if (run === undefined || tenant === undefined) return;
    this.#runs.delete(id);
    tenant.runs.delete(id);
    tenant.bytes -= run.bytes;
    this.#bytes -= run.bytes;
    if (tenant.runs.size === 0) this.#tenants.delete(tenantId);
  }

  /** Evicts runs beyond the limits. Call before every read of the kept runs, because they expire without a timer. */
  sweep(): void {
    const expired = this.#clock.monotonicNow() - this.#limits.ttlMs;
    for (let run = this.#runs.first; run !== undefined; run = this.#runs.first) {
      if (run.settledAt > expired) break;
      this.#evict(run, 'age');
    }
    while (this.#runs.size > this.#limits.maxRuns) {
      const largest = findLargest(this.#tenants.values(), ({ runs }) => runs.size);
      if (largest?.runs.first === undefined) return;
      this.#evict(largest.runs.first, 'number');
    }
    const { maxBytes = Number.POSITIVE_INFINITY } = this.#limits;
    while (this.#bytes > maxBytes) {
      const run = this.#findReclaimable(() => false);
      if (run === undefined) return;
      this.#evict(run, 'bytes');
    }
  }

  /** Evicts one run for a tenant that needs memory. Another tenant keeps the memory that it is guaranteed. */
  #reclaim(tenantId: string): boolean {
    const run = this.#findReclaimable(
      (owner) => owner !== tenantId && this.#memory?.isWithinGuarantee(owner) === true,
    );
    if (run === undefined) return false;
    this.#evict(run, 'memory');
    return true;
  }

  /** The first run to evict of the tenant that has most memory. */
  #findReclaimable(isProtected: (tenantId: string) => boolean): KeptRun<R> | undefined {
    const largest = findLargest(this.#tenants.values(), ({ tenantId, firstToReclaim, bytes }) =>
      firstToReclaim === undefined || isProtected(tenantId) ? 0 : bytes,
    );
    return largest?.firstToReclaim;
  }

  #evict({ entry }: KeptRun<R>, reason: EvictionReason): void {
    this.delete(entry);
    this.#onEvict(entry, reason);
  }
}
