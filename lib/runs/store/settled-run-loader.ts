import { errorCode, WavetrainError } from '../../common/errors.js';
import type { MemoryPool } from '../../common/memory/memory-pool.js';
import { shareLimit } from '../../common/memory/shared-limit.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { inNextTurn } from '../../common/scheduling/turns.js';
import { runNotFound } from '../../execution/local-executor.js';
import type { MissingRunFiles } from '../rerun/missing-run-files.js';
import type { RestoredRun, ReviveDefinition, RunFactory } from '../run-factory.js';
import type { RunEntry } from '../run-entry.js';
import type { RunArchive, StoredRunHead } from './run-archive.js';
import type { RunStore } from './run-store.js';

/** So many runs are read at once: the facts of each are in memory meanwhile. */
const MAX_LOADS = 8;

/** Percentage of these that every tenant may use when others use the rest. */
const LOADS_OF_TENANT = 25;

interface LoaderParts {
  readonly store: RunStore;
  readonly archive: RunArchive;
  readonly factory: RunFactory;
  readonly revive: ReviveDefinition;
  readonly memory: MemoryPool | undefined;
  readonly createMissingFiles: () => MissingRunFiles;
  /** Takes over the run, which cannot be found until it is rebuilt. */
  readonly enter: (run: RestoredRun) => RunEntry;
  /** Lets the rebuilt run be found, until others need its memory. */
  readonly cache: (entry: RunEntry, head: StoredRunHead) => void;
  readonly drop: (entry: RunEntry) => void;
}

/** Reads settled runs from the store when somebody asks for one (D74). */
export class SettledRunLoader {
  readonly #parts: LoaderParts;
  readonly #loads = new Map<string, Promise<void>>();
  readonly #limiter = new ConcurrencyLimiter(shareLimit(MAX_LOADS, LOADS_OF_TENANT));

  constructor(parts: LoaderParts) {
    this.#parts = parts;
  }

  /**
   * Makes a settled run readable in memory. Does nothing for a run that is not kept, or of other tenants. Rejects with
   * `memory_full`, and when the run cannot be shown.
   *
   * @param tenants null for all
   */
  async load(runId: string, tenants: readonly string[] | null): Promise<void> {
    const head = await this.#parts.archive.head(runId, tenants?.[0]);
    if (head?.hasSettled !== true || tenants?.includes(head.tenantId) === false) return;
    // All who ask meanwhile wait for one load.
    let load = this.#loads.get(runId);
    if (load === undefined) {
      load = this.#limiter
        .run({ tenant_id: head.tenantId }, () => this.#load(head))
        .finally(() => this.#loads.delete(runId));
      this.#loads.set(runId, load);
    }
    await load;
  }

  async #load(head: StoredRunHead): Promise<void> {
    const missingFiles = this.#parts.createMissingFiles();
    try {
      const restored = await this.#restore(head, missingFiles);
      if (restored !== undefined) await this.#enter(restored, head);
    } finally {
      missingFiles.forget();
    }
  }

  #restore(head: StoredRunHead, missingFiles: MissingRunFiles): Promise<RestoredRun | undefined> {
    const { store, factory, revive } = this.#parts;
    const reserve = (bytes: number): (() => void) => this.#reserve(head.tenantId, bytes);
    return factory.restore(head, { store, revive, missingFiles, reserve }).catch((error: unknown) => {
      throw errorCode(error) === 'queue_full' ? memoryFull(head.id) : error;
    });
  }

  async #enter(restored: RestoredRun, head: StoredRunHead): Promise<void> {
    const { enter, cache, drop } = this.#parts;
    const entry = enter(restored);
    try {
      await this.#rebuild(entry, head.id);
      // All who wait for the run retain it in this turn: one that is larger than the cache must not go before.
      inNextTurn(entry.retain());
      cache(entry, head);
    } catch (error) {
      drop(entry);
      throw error;
    } finally {
      restored.release();
    }
  }

  async #rebuild({ run }: RunEntry, runId: string): Promise<void> {
    await run.rebuild();
    // Retention may have deleted facts of the run while they were read.
    if ((await this.#parts.archive.head(runId)) === undefined) throw runNotFound(runId);
    if (!run.isSettled) throw cannotBeShown(runId);
  }

  #reserve(tenantId: string, bytes: number): () => void {
    const { memory } = this.#parts;
    memory?.reserve(tenantId, bytes, 'run');
    return () => memory?.release(tenantId, bytes);
  }
}

function memoryFull(runId: string): WavetrainError {
  const message = `no memory is left to read run ${runId}: try again when some requests and runs have ended`;
  return new WavetrainError('memory_full', message, { fault: 'service' });
}

function cannotBeShown(runId: string): WavetrainError {
  const message = `run ${runId} cannot be shown: its facts do not lead to the end that it had`;
  return new WavetrainError('internal', message);
}
