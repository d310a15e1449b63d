import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import { LinkedMap } from '../../common/memory/linked-map.js';
import type { FoldedRun } from '../../execution/history/fold/folded-run.js';
import { type AnyRun, runNotFound } from '../../execution/local-executor.js';
import type { Retention } from '../retention.js';
import { type KnownRun, LiveRunEntry, type RunEntry } from '../run-entry.js';

/** Tenants whose last changes are remembered: those of others count as changed when one of them is forgotten. */
const MAX_TENANTS = 10_000;

/** The place of a run in the order of submission; of one that is not restored yet, it is empty. */
interface Place {
  entry: LiveRunEntry | undefined;
}

/** The runs of a registry: found by id, and listed in the order of their submission. Commands and queries share it. */
export class RunIndex {
  readonly #places = new LinkedMap<string, Place>();
  /** Settled runs that the archive of the store lists: they are here to be read. */
  readonly #cached = new Map<string, RunEntry>();
  readonly #retention: Retention<RunEntry>;
  /** Runs that have not settled. */
  readonly #open = new LinkedMap<string, LiveRunEntry>();
  /** How many settled runs that no archive lists have each status. */
  readonly #settled = new Map<RunStatus, number>();
  #leftRuns = 0;
  /** Distinguishes the versions of this process from those of another one. */
  readonly #openedAt: number;
  #changes = 0;
  /** The number of the last change of each tenant, from the one whose change is longest ago. */
  readonly #lastChanges = new Map<string, number>();
  #lastForgotten = 0;

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

  /** Finds a run with its actor. Throws as `find`. @param createError for a settled run, which has none any more */
  findLive(runId: string, createError: (run: FoldedRun) => WavetrainError): LiveRunEntry {
    const entry = this.find(runId);
    if (entry instanceof LiveRunEntry) return entry;
    throw createError(entry.run as FoldedRun);
  }

  get(runId: string): RunEntry | undefined {
    return this.#places.get(runId)?.entry ?? this.#cached.get(runId);
  }

  has(runId: string): boolean {
    return this.get(runId) !== undefined;
  }

  newestFirst(): Iterable<LiveRunEntry> {
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

  add(entry: LiveRunEntry): void {
    const { id } = entry.run;
    const place = this.#places.get(id);
    if (place === undefined) this.#places.add(id, { entry });
    else place.entry = entry;
    this.#open.add(id, entry);
    this.onChanged(entry);
  }

  /** Takes a settled run out of the list, because the archive of the store lists it from now on. It can still be found. */
  moveToCache(entry: LiveRunEntry): void {
    const { id, tenantId } = entry.run;
    this.#places.delete(id);
    this.#open.delete(id);
    this.#cached.set(id, entry);
    this.changed(tenantId);
  }

  /** Adds a settled run that was read from the archive. */
  addToCache(entry: RunEntry): void {
    this.#cached.set(entry.run.id, entry);
  }

  /** Forgets a settled run that the archive still has. */
  dropFromCache({ run: { id } }: RunEntry): void {
    this.#cached.delete(id);
  }

  delete(entry: RunEntry): void {
    const { id, tenantId, status } = entry.run;
    if (!this.has(id)) return;
    if (!this.#cached.delete(id)) {
      this.#places.delete(id);
      if (!this.#open.delete(id)) this.#settled.set(status, (this.#settled.get(status) ?? 0) - 1);
    }
    this.changed(tenantId);
  }

  /** Stops a run where it is, for the next process. */
  leave(run: AnyRun): void {
    if (run.isLeft) return;
    this.#leftRuns++;
    const entry = this.get(run.id);
    if (entry instanceof LiveRunEntry) entry.leave();
    else run.stop();
  }

  get leftRuns(): number {
    return this.#leftRuns;
  }

  /** Call when a run has settled. Changes of a run that has a slot are noticed anyway. */
  onChanged({ run }: LiveRunEntry): void {
    const { id, status, isSettled } = run;
    if (isSettled && this.#open.delete(id)) this.#settled.set(status, (this.#settled.get(status) ?? 0) + 1);
    this.changed(run.tenantId);
  }

  /** Call when a list of the runs of the tenant has changed. */
  changed(tenantId: string): void {
    this.#lastChanges.delete(tenantId);
    this.#lastChanges.set(tenantId, ++this.#changes);
    if (this.#lastChanges.size <= MAX_TENANTS) return;
    for (const [oldest, change] of this.#lastChanges) {
      this.#lastChanges.delete(oldest);
      this.#lastForgotten = change;
      return;
    }
  }

  /** Counts the listed runs. Takes time only for those that have not settled. */
  countByStatus(): ReadonlyMap<RunStatus, number> {
    this.#retention.sweep();
    const counts = new Map([...this.#settled].filter(([, count]) => count > 0));
    for (const { run } of this.#open) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
    return counts;
  }

  /** Changes, as JSON does, with the runs of some tenants that come, go and settle. @param tenants undefined for all of them */
  changesOf(tenants: readonly string[] | undefined): unknown {
    this.#retention.sweep();
    const changes = tenants?.map((tenantId) => this.#lastChanges.get(tenantId) ?? this.#lastForgotten);
    return [this.#openedAt, changes ?? this.#changes];
  }
}

function* listEntries(places: Iterable<Place>): Iterable<LiveRunEntry> {
  for (const { entry } of places) if (entry !== undefined) yield entry;
}

/** @throws WavetrainError `shutting_down` for a run that is left as it is, for the next process */
export function assertNotLeft({ id, isLeft }: Pick<KnownRun, 'id' | 'isLeft'>): void {
  if (isLeft) throw leftToNextProcess(`run ${id}`);
}

export function leftToNextProcess(what: string): WavetrainError {
  const message = `the server is shutting down: ${what} can be found again when it is started again`;
  return new WavetrainError('shutting_down', message, { fault: 'service' });
}
