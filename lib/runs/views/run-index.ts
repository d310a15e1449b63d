import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import { LinkedMap } from '../../common/memory/linked-map.js';
import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
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

/** The place of a run in the order of submission; of one that is not restored yet, it is empty. */
interface Place {
  entry: RunEntry | undefined;
}

/** The runs of a registry: found by id, and listed in the order of their submission. */
export class RunIndex {
  readonly #places = new LinkedMap<string, Place>();
  #size = 0;
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
    return this.#size;
  }

  get(runId: string): RunEntry | undefined {
    return this.#places.get(runId)?.entry;
  }

  has(runId: string): boolean {
    return this.get(runId) !== undefined;
  }

  /** Keeps the place in the order of submission for a run that is going to be restored. */
  reserve(runId: string): void {
    this.#places.add(runId, { entry: undefined });
  }

  /** Gives up the place of a run that is not restored. */
  release(runId: string): void {
    if (!this.has(runId)) this.#places.delete(runId);
  }

  add(entry: RunEntry): void {
    const { id, tenantId } = entry.run;
    const place = this.#places.get(id);
    if (place === undefined) this.#places.add(id, { entry });
    else place.entry = entry;
    this.#size++;
    const changes = this.#changesByTenant.get(tenantId) ?? { origin: id, runs: 0, count: 0 };
    changes.runs++;
    this.#changesByTenant.set(tenantId, changes);
    this.onChanged(entry);
  }

  delete(entry: RunEntry): void {
    const { id, tenantId } = entry.run;
    if (!this.has(id)) return;
    this.#places.delete(id);
    this.#size--;
    this.onChanged(entry);
    const changes = this.#changesByTenant.get(tenantId);
    if (changes !== undefined && --changes.runs === 0) this.#changesByTenant.delete(tenantId);
  }

  /** Call when a run has settled. Changes of a run that has a slot are noticed anyway. */
  onChanged({ run }: RunEntry): void {
    this.#changes.count++;
    const changes = this.#changesByTenant.get(run.tenantId);
    if (changes !== undefined) changes.count++;
  }

  /** One page, newest first. Throws `invalid_request` for a malformed cursor. */
  page(query: RunQuery): RunPage {
    return runToEnd(this.pageInSteps(query));
  }

  *pageInSteps(query: RunQuery): Steps<RunPage> {
    const page = yield* paginate(this.newestFirst(), query);
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

  *newestFirst(): Iterable<RunEntry> {
    for (const { entry } of this.#places.backwards()) if (entry !== undefined) yield entry;
  }

  countByStatus(): ReadonlyMap<RunStatus, number> {
    return countStatuses(this.newestFirst());
  }
}
