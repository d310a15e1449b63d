import type { Clock } from '../../common/clock.js';
import type { MemoryPool } from '../../common/memory/memory-pool.js';
import { inNextTurn } from '../../common/scheduling/turns.js';
import type { FoldedRun } from '../../execution/history/fold/folded-run.js';
import { type LocalExecutor, runNotFound } from '../../execution/local-executor.js';
import type { IdempotencyKey, IdempotencyStore } from '../idempotency.js';
import type { RegistryOptions } from '../registry-options.js';
import { MissingRunFiles } from '../rerun/missing-run-files.js';
import { type Retention, type RetentionLimits, UNLIMITED_RETENTION } from '../retention.js';
import { type LiveRunEntry, RunEntry } from '../run-entry.js';
import type { RunIndex } from '../views/run-index.js';
import { ArchivePruner } from './archive-pruner.js';
import type { PrunedRun, RunArchive, StoredRunHead } from './run-archive.js';
import type { RunStore } from './run-store.js';
import { type ReplayedRun, SettledRunLoader } from './restore/settled-run-loader.js';
import type { StoredRunReader } from './restore/stored-run-reader.js';

interface ArchiveParts {
  readonly store: RunStore;
  readonly archive: RunArchive;
  readonly executor: LocalExecutor;
  readonly runs: RunIndex;
  readonly keys: IdempotencyStore;
  /** The settled runs in memory. */
  readonly cache: Retention<RunEntry>;
  readonly memory: MemoryPool | undefined;
  readonly clock: Clock;
  readonly options: Pick<RegistryOptions, 'archiveLimits' | 'onPruned' | 'eventBuffer'>;
}

/** The settled runs whose home is the archive of a store; memory is a cache of them (D74). */
export class ArchivedRuns {
  readonly archive: RunArchive;
  readonly #parts: ArchiveParts;
  /** Undefined until definitions can be checked. */
  #loader: SettledRunLoader | undefined;
  #pruner: ArchivePruner | undefined;

  constructor(parts: ArchiveParts) {
    this.#parts = parts;
    this.archive = parts.archive;
  }

  /** From then on, runs can be read, and the limits of the archive hold. */
  start(reader: StoredRunReader): void {
    const { archive, memory, executor, clock, options } = this.#parts;
    this.#loader = new SettledRunLoader({
      reader,
      archive,
      memory,
      createMissingFiles: () => new MissingRunFiles(executor),
      cache: (run, head) => this.#addToCache(run, head),
      drop: (run) => {
        executor.unload(run.id);
        run.budget.close();
      },
    });
    const { archiveLimits, onPruned } = options;
    if (archiveLimits === undefined) return;
    this.#pruner = new ArchivePruner(archive, archiveLimits, clock, (runs) => {
      for (const run of runs) this.#forget(run);
      onPruned?.(runs);
    });
    this.#pruner.start();
  }

  #addToCache(run: FoldedRun, head: StoredRunHead): void {
    const { runs, cache, options } = this.#parts;
    const entry = new RunEntry(run, run.takePastEvents(), options.eventBuffer ?? 0);
    entry.log.close();
    // All who wait for the run retain it in this turn: one that is larger than the cache must not go before.
    inNextTurn(entry.retain());
    // When the run is deleted, its key stays.
    this.#restoreKey(head);
    runs.addToCache(entry);
    cache.add(entry);
  }

  /** The limits of the archive. */
  get limits(): RetentionLimits {
    return this.#parts.options.archiveLimits ?? UNLIMITED_RETENTION;
  }

  /** Reads a settled run into memory, unless it is not kept, or not of these tenants. As `SettledRunLoader.load`. */
  async load(...call: Parameters<SettledRunLoader['load']>): Promise<FoldedRun | undefined> {
    return this.#loader?.load(...call);
  }

  /** Makes the actor of a settled run again. Rejects as `SettledRunLoader.replay`. */
  async replay(...[runId, ...others]: Parameters<SettledRunLoader['replay']>): Promise<ReplayedRun> {
    if (this.#loader === undefined) throw runNotFound(runId);
    return this.#loader.replay(runId, ...others);
  }

  /** Gives a key back to the run that was submitted with it. */
  async findKey(tenantId: string, { key }: IdempotencyKey): Promise<void> {
    const { keys, archive } = this.#parts;
    if (keys.has(tenantId, key)) return;
    const head = await archive.findKey(tenantId, key);
    if (head !== undefined) this.#restoreKey(head);
  }

  /** Gives its key back to a run, unless another submission has taken the key meanwhile. */
  #restoreKey({ id, tenantId, idempotency }: Pick<StoredRunHead, 'id' | 'tenantId' | 'idempotency'>): void {
    const { keys } = this.#parts;
    if (idempotency === undefined || keys.has(tenantId, idempotency.key)) return;
    keys.restore(tenantId, idempotency, id);
  }

  /** Call when a run has settled, and the archive has its end. */
  onSettled(entry: LiveRunEntry): void {
    this.#parts.runs.moveToCache(entry);
    this.#parts.cache.add(entry);
  }

  /** Drops a run from memory. */
  unload(entry: RunEntry): void {
    const { runs, keys, executor } = this.#parts;
    const { id } = entry.run;
    runs.dropFromCache(entry);
    keys.unload(id);
    executor.unload(id);
    entry.drop();
  }

  /** Deletes a settled run that is not in memory. @param tenantId of the caller */
  async remove(runId: string, tenantId: string): Promise<void> {
    const head = await this.archive.head(runId, tenantId);
    if (head?.endStatus === undefined) return;
    this.#parts.store.remove(runId);
    this.#forget({ ...head, status: head.endStatus });
  }

  /** Deletes nothing from then on. Returns what to wait for until nothing is deleted any more. */
  close(): Promise<void> | undefined {
    return this.#pruner?.close();
  }

  /** Forgets a run that was deleted from the archive. */
  #forget(run: Omit<PrunedRun, 'reason'>): void {
    const { runs, keys, cache } = this.#parts;
    const entry = runs.get(run.id);
    if (entry !== undefined) {
      cache.delete(entry);
      this.unload(entry);
    }
    this.#restoreKey(run);
    keys.forgetRun(run.id, run.status);
    runs.changed(run.tenantId);
  }
}
