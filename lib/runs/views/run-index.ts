import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import { LinkedMap } from '../../common/memory/linked-map.js';
import { type AnyRun, runNotFound } from '../../execution/local-executor.js';
import type { Retention } from '../retention.js';
import type { RunEntry } from '../run-entry.js';

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

/** The runs of a registry: found by id, and listed in the order of their submission. Commands and queries share it. */
export class RunIndex {
  readonly #places = new LinkedMap<string, Place>();
  readonly #retention: Retention<RunEntry>;
  /** Runs that have not settled. */
  readonly #open = new LinkedMap<string, RunEntry>();
  /** The statuses of settled runs, which never change again: there may be a million. */
  readonly #settled = new Map<RunStatus, number>();
  #leftRuns = 0;
  /** Distinguishes the versions of this process from those of another one. */
  readonly #openedAt: number;
  readonly #changes: Changes = { origin: '', runs: 0, count: 0 };
  /** Only of tenants with runs. A tenant that counted with the others would see when these are busy. */
  readonly #changesByTenant = new Map<string, Changes>();

  constructor(clock: Clock, retention: Retention<RunEntry>) {
    this.#openedAt = clock.now();
    this.#retention = retention;
  }

  /** Throws `run_not_found`, and `shutting_down` for a run that is left to the next process. */
  find(runId: string): RunEntry {
    this.#retention.sweep();
    const entry = this.get(runId);
    if (entry === undefined) throw runNotFound(runId);
    assertNotLeft(entry.run);
    return entry;
  }

  get(runId: string): RunEntry | undefined {
    return this.#places.get(runId)?.entry;
  }

  has(runId: string): boolean {
    return this.get(runId) !== undefined;
  }

  newestFirst(): Iterable<RunEntry> {
    this.#retention.sweep();
    return listEntries(this.#places.backwards());
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
    const changes = this.#changesByTenant.get(tenantId) ?? { origin: id, runs: 0, count: 0 };
    changes.runs++;
    this.#changesByTenant.set(tenantId, changes);
    this.#open.add(id, entry);
    this.onChanged(entry);
  }

  delete(entry: RunEntry): void {
    const { id, tenantId, status } = entry.run;
    if (!this.has(id)) return;
    this.#places.delete(id);
    if (!this.#open.delete(id)) this.#settled.set(status, (this.#settled.get(status) ?? 0) - 1);
    this.onChanged(entry);
    const changes = this.#changesByTenant.get(tenantId);
    if (changes !== undefined && --changes.runs === 0) this.#changesByTenant.delete(tenantId);
  }

  /** Stops a run where it is, for the next process. */
  leave(run: AnyRun): void {
    if (run.isLeft) return;
    this.#leftRuns++;
    run.stop();
  }

  get leftRuns(): number {
    return this.#leftRuns;
  }

  /** Call when a run has settled. Changes of a run that has a slot are noticed anyway. */
  onChanged({ run }: RunEntry): void {
    const { id, status, isSettled } = run;
    if (isSettled && this.#open.delete(id)) this.#settled.set(status, (this.#settled.get(status) ?? 0) + 1);
    this.#changes.count++;
    const changes = this.#changesByTenant.get(run.tenantId);
    if (changes !== undefined) changes.count++;
  }

  /** Takes time only for the runs that have not settled. */
  countByStatus(): ReadonlyMap<RunStatus, number> {
    this.#retention.sweep();
    const counts = new Map([...this.#settled].filter(([, count]) => count > 0));
    for (const { run } of this.#open) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
    return counts;
  }

  /** Changes, as JSON does, with the runs of some tenants that come, go and settle. @param tenants undefined for all of them */
  changesOf(tenants: readonly string[] | undefined): unknown {
    this.#retention.sweep();
    const changes = tenants?.map((tenantId) => this.#changesByTenant.get(tenantId)) ?? [this.#changes];
    return [this.#openedAt, changes.map((each) => [each?.origin, each?.count])];
  }
}

function* listEntries(places: Iterable<Place>): Iterable<RunEntry> {
  for (const { entry } of places) if (entry !== undefined) yield entry;
}

/** @throws WavetrainError `shutting_down` for a run that is left as it is, for the next process */
export function assertNotLeft({ id, isLeft }: AnyRun): void {
  if (isLeft) throw leftToNextProcess(`run ${id}`);
}

export function leftToNextProcess(what: string): WavetrainError {
  const message = `the server is shutting down: ${what} can be found again when it is started again`;
  return new WavetrainError('shutting_down', message, { fault: 'service' });
}
