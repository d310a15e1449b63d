import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import { LinkedMap } from '../../common/queues/linked-map.js';
import { runToEnd, type Steps } from '../../common/steps.js';
import type { Admission } from '../admission.js';
import type { RunEntry } from '../run-entry.js';
import { countStatuses, paginate, type RunPage, type RunQuery } from './run-listing.js';

/** The changes of the runs of one tenant, or of all of them. */
interface Changes {
  /** Of the first run: the changes of a tenant are counted anew when it has had no runs. */
  readonly origin: string;
  runs: number;
  count: number;
}

/** The runs of a registry: found by id, and listed in the order of their submission. */
export class RunIndex {
  readonly #entries = new LinkedMap<string, RunEntry>();
  readonly #admission: Admission;
  /** Distinguishes the versions of this process from those of another one. */
  readonly #openedAt: number;
  readonly #changes: Changes = { origin: '', runs: 0, count: 0 };
  /** Only of tenants with runs. A tenant that counted with the others would see when these are busy. */
  readonly #changesByTenant = new Map<string, Changes>();

  constructor(clock: Clock, admission: Admission) {
    this.#openedAt = clock.now();
    this.#admission = admission;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(runId: string): RunEntry | undefined {
    return this.#entries.get(runId);
  }

  has(runId: string): boolean {
    return this.#entries.has(runId);
  }

  add(entry: RunEntry): void {
    const { id, tenantId } = entry.run;
    if (!this.#entries.add(id, entry)) return;
    const changes = this.#changesByTenant.get(tenantId) ?? { origin: id, runs: 0, count: 0 };
    changes.runs++;
    this.#changesByTenant.set(tenantId, changes);
    this.onChanged(entry);
  }

  delete(entry: RunEntry): void {
    const { id, tenantId } = entry.run;
    if (!this.#entries.delete(id)) return;
    this.onChanged(entry);
    const changes = this.#changesByTenant.get(tenantId);
    if (changes !== undefined && --changes.runs === 0) this.#changesByTenant.delete(tenantId);
  }

  /** Call when a run has settled. What changes while it has a slot is noticed anyway. */
  onChanged({ run }: RunEntry): void {
    this.#changes.count++;
    const changes = this.#changesByTenant.get(run.tenantId);
    if (changes !== undefined) changes.count++;
  }

  /** Puts runs that were restored in another order into that of their submission. */
  sort(): void {
    this.#entries.sort((a, b) => a.sequence - b.sequence);
    this.#changes.count++;
  }

  /** One page, newest first. Throws `invalid_request` for a malformed cursor. */
  page(query: RunQuery): RunPage {
    return runToEnd(this.pageInSteps(query));
  }

  *pageInSteps(query: RunQuery): Steps<RunPage> {
    const page = yield* paginate(this.#entries.backwards(), query);
    return query.counts === true ? { ...page, queue: this.#admission.queueOf(query.tenants) } : page;
  }

  /**
   * Changes whenever a page may: with the runs that come, go and settle, with those that are running, and with the queue if it
   * is on the page. Takes no time for the others, of which there may be a million.
   */
  version({ tenants, counts }: RunQuery): string {
    const changes =
      tenants === undefined
        ? [this.#changes]
        : tenants.map((tenantId) => this.#changesByTenant.get(tenantId));
    const seen = tenants && new Set(tenants);
    const running: string[] = [];
    for (const entry of this.#admission.running) {
      if (seen === undefined || seen.has(entry.run.tenantId)) running.push(entry.run.id, entry.version);
    }
    const queue = counts === true ? this.#admission.queueOf(tenants) : undefined;
    return JSON.stringify([
      this.#openedAt,
      changes.map((each) => [each?.origin, each?.count]),
      running,
      queue,
    ]);
  }

  newestFirst(): Iterable<RunEntry> {
    return this.#entries.backwards();
  }

  countByStatus(): ReadonlyMap<RunStatus, number> {
    return countStatuses(this.#entries);
  }
}
