import { errorCode, WavetrainError } from '../../../common/errors.js';
import type { MemoryPool } from '../../../common/memory/memory-pool.js';
import { shareLimit } from '../../../common/memory/shared-limit.js';
import { ConcurrencyLimiter } from '../../../common/scheduling/concurrency-limiter.js';
import type { FoldedRun } from '../../../execution/history/fold/folded-run.js';
import { type AnyRun, runNotFound } from '../../../execution/local-executor.js';
import type { MissingRunFiles } from '../../rerun/missing-run-files.js';
import type { ArchivedHead, RunArchive, StoredRunHead } from '../run-archive.js';
import type { WantedItems } from '../run-store.js';
import type { StoredRunReader } from './stored-run-reader.js';

/** So many runs are read at once: the facts of each are in memory meanwhile. */
const MAX_LOADS = 8;

/** Percentage of these that every tenant may use when others use the rest. */
const LOADS_OF_TENANT = 25;

/** The actors of so many runs are made again at once: each takes longer, and more memory, than a fold. */
const MAX_REPLAYS = 1;

interface LoaderParts {
  readonly reader: StoredRunReader;
  readonly archive: RunArchive;
  readonly memory: MemoryPool | undefined;
  readonly createMissingFiles: () => MissingRunFiles;
  /** Lets the run be found, until others need its memory. */
  readonly cache: (run: FoldedRun, head: StoredRunHead) => void;
  /** Drops a run that nobody has found. */
  readonly drop: (run: FoldedRun) => void;
}

/** A settled run with its actor. */
export interface ReplayedRun {
  readonly run: AnyRun;
  /** Gives its memory back. */
  readonly close: () => void;
}

/** Reads settled runs from the store when somebody asks for one (D74). */
export class SettledRunLoader {
  readonly #parts: LoaderParts;
  readonly #loads = new Map<string, Promise<void>>();
  readonly #loadLimiter = new ConcurrencyLimiter(shareLimit(MAX_LOADS, LOADS_OF_TENANT));
  readonly #replayLimiter = new ConcurrencyLimiter({ total: MAX_REPLAYS });

  constructor(parts: LoaderParts) {
    this.#parts = parts;
  }

  /**
   * Makes a settled run readable in memory. Does nothing for a run that is not kept, or of other tenants. Rejects with
   * `memory_full`, and when the run cannot be shown.
   *
   * @param tenants null for all
   * @param only the caller looks at nothing but these items
   * @returns a run that only the caller finds, and must close, when it is enough for these items: nothing is in memory then
   */
  async load(
    runId: string,
    tenants: readonly string[] | null,
    only?: WantedItems,
  ): Promise<FoldedRun | undefined> {
    const head = await this.#parts.archive.head(runId, tenants?.[0]);
    const end = head?.end;
    if (head === undefined || end === undefined || tenants?.includes(head.tenantId) === false)
      return undefined;
    const { tenantId: tenant_id } = head;
    // All who ask meanwhile wait for one load.
    let load = this.#loads.get(runId);
    if (load === undefined && only !== undefined && head.hasItemParts === true) {
      const part = await this.#loadLimiter.run({ tenant_id }, () => this.#loadPart(head, end, only));
      if (part !== undefined) return part;
      load = this.#loads.get(runId);
    }
    if (load === undefined) {
      load = this.#loadLimiter
        .run({ tenant_id }, () => this.#load(head, end))
        .finally(() => this.#loads.delete(runId));
      this.#loads.set(runId, load);
    }
    await load;
    return undefined;
  }

  async #loadPart(
    head: ArchivedHead,
    end: NonNullable<ArchivedHead['end']>,
    only: WantedItems,
  ): Promise<FoldedRun | undefined> {
    const { reader } = this.#parts;
    const part = await this.#read(head, (context) => reader.foldItems(head, end, only, context));
    if (part !== undefined) await this.#assertKept(head, () => part.budget.close());
    return part;
  }

  async #load(head: ArchivedHead, end: NonNullable<ArchivedHead['end']>): Promise<void> {
    const { reader, cache, drop } = this.#parts;
    const run = await this.#read(head, (context) => reader.fold(head, end, context));
    if (run === undefined) return;
    await this.#assertKept(head, () => drop(run));
    cache(run, head);
  }

  /** Retention may have deleted facts of a run while they were read. Rejects with `run_not_found`. */
  async #assertKept({ id }: ArchivedHead, drop: () => void): Promise<void> {
    if ((await this.#parts.archive.head(id)) !== undefined) return;
    drop();
    throw runNotFound(id);
  }

  /**
   * Makes the actor of a settled run again from its facts, for somebody who looks at it. Rejects with `run_not_found`,
   * `memory_full`, and when the facts do not lead to the end that the run had.
   */
  async replay(runId: string): Promise<ReplayedRun> {
    const head = await this.#parts.archive.head(runId);
    if (head === undefined) throw runNotFound(runId);
    return this.#replayLimiter.run({ tenant_id: head.tenantId }, () => this.#replay(head));
  }

  async #replay(head: StoredRunHead): Promise<ReplayedRun> {
    const { reader } = this.#parts;
    const recreated = await this.#read(head, (context) => reader.recreate(head, context));
    if (recreated === undefined) throw runNotFound(head.id);
    const { run, release } = recreated;
    const close = (): void => run.budget.close();
    try {
      run.takePastEvents();
      await run.rebuild();
      if (!run.isSettled) throw cannotBeShown(head.id);
      return { run, close };
    } catch (error) {
      close();
      throw error;
    } finally {
      release();
    }
  }

  async #read<T>(
    { id, tenantId }: StoredRunHead,
    read: (context: Parameters<StoredRunReader['restore']>[1]) => Promise<T>,
  ): Promise<T> {
    const missingFiles = this.#parts.createMissingFiles();
    try {
      return await read({ missingFiles, reserve: (bytes) => this.#reserve(tenantId, bytes) });
    } catch (error) {
      throw errorCode(error) === 'queue_full' ? memoryFull(id) : error;
    } finally {
      missingFiles.forget();
    }
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
  const message = `the actors of run ${runId} cannot be shown: its facts do not lead to the end that it had`;
  return new WavetrainError('internal', message);
}
