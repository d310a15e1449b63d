import { errorCode, WavetrainError } from '../../../common/errors.js';
import type { MemoryPool } from '../../../common/memory/memory-pool.js';
import { shareLimit } from '../../../common/memory/shared-limit.js';
import { ConcurrencyLimiter, SharedWork } from '../../../common/scheduling/concurrency-limiter.js';
import type { FoldedRun } from '../../../execution/history/fold/folded-run.js';
import { type AnyRun, runNotFound } from '../../../execution/local-executor.js';
import type { MissingRunFiles } from '../../rerun/missing-run-files.js';
import type { ArchivedHead, RunArchive, StoredRunHead } from '../run-archive.js';
import type { WantedItems } from '../run-store.js';
import type { ReadContext, StoredRunReader } from './stored-run-reader.js';

/** So many runs are read at once: the facts of each are in memory meanwhile. */
const MAX_LOADS = 8;

/** Percentage of these that every tenant may use when others use the rest. */
const LOADS_OF_TENANT = 25;

/** The actors of so many runs are made again at once, and of so many of each tenant in any case: each takes longer than a fold. */
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

/** A settled run with its summary. */
interface SettledHead extends ArchivedHead {
  readonly summary: NonNullable<ArchivedHead['summary']>;
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
  readonly #loads = new Map<string, SharedWork>();
  readonly #loadLimiter = new ConcurrencyLimiter(shareLimit(MAX_LOADS, LOADS_OF_TENANT));
  readonly #replayLimiter = new ConcurrencyLimiter({ total: MAX_REPLAYS, guaranteed: MAX_REPLAYS });

  constructor(parts: LoaderParts) {
    this.#parts = parts;
  }

  /**
   * Makes a settled run readable in memory. Does nothing for a run that is not kept, or of other tenants. Rejects with
   * `memory_full`, and when the run cannot be shown.
   *
   * @param tenants null for all
   * @param only the caller looks at nothing but these items
   * @param signal of a caller who may go before
   * @returns a run that only the caller finds, and must close, when it is enough for these items: nothing is in memory then
   */
  async load(
    runId: string,
    tenants: readonly string[] | null,
    only?: WantedItems,
    signal?: AbortSignal,
  ): Promise<FoldedRun | undefined> {
    const head = await this.#parts.archive.head(runId, tenants?.[0]);
    if (head?.summary === undefined || tenants?.includes(head.tenantId) === false) return undefined;
    const settled = { ...head, summary: head.summary };
    try {
      if (only !== undefined && head.hasItemParts === true && !this.#loads.has(runId)) {
        const part = await this.#limit(head, signal, () => this.#loadPart(settled, only, signal));
        if (part !== undefined) return part;
      }
      await this.#shareLoad(settled).wait(signal);
    } catch (error) {
      throw signal?.aborted === true ? nobodyWaits(runId) : error;
    }
    return undefined;
  }

  /** All who ask meanwhile wait for one load. */
  #shareLoad(head: SettledHead): SharedWork {
    const { id } = head;
    let load = this.#loads.get(id);
    if (load !== undefined) return load;
    const forget = (): void => {
      if (this.#loads.get(id) === load) this.#loads.delete(id);
    };
    const begin = (signal: AbortSignal): Promise<void> =>
      this.#limit(head, signal, () => this.#load(head, signal)).finally(forget);
    load = new SharedWork(begin, forget);
    this.#loads.set(id, load);
    return load;
  }

  #limit<T>(
    { tenantId }: StoredRunHead,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#loadLimiter.run({ tenant_id: tenantId, signal }, work);
  }

  async #loadPart(
    head: SettledHead,
    only: WantedItems,
    signal: AbortSignal | undefined,
  ): Promise<FoldedRun | undefined> {
    const { reader } = this.#parts;
    const part = await this.#read(head, signal, (context) => reader.fold(head, head.summary, context, only));
    if (part !== undefined) await this.#assertKept(head, () => part.budget.close());
    return part;
  }

  async #load(head: SettledHead, signal: AbortSignal): Promise<void> {
    const { reader, cache, drop } = this.#parts;
    const run = await this.#read(head, signal, (context) => reader.fold(head, head.summary, context));
    if (run === undefined) return;
    await this.#assertKept(head, () => drop(run));
    cache(run, head);
  }

  /** Retention may have deleted facts of a run while they were read. Rejects with `run_not_found`. */
  async #assertKept({ id, tenantId }: StoredRunHead, drop: () => void): Promise<void> {
    if ((await this.#parts.archive.head(id, tenantId)) !== undefined) return;
    drop();
    throw runNotFound(id);
  }

  /**
   * Makes the actor of a settled run again from its facts, for somebody who looks at it. Rejects with `run_not_found`,
   * `memory_full`, and when the facts do not lead to the end that the run had.
   *
   * @param tenantId of the run @param signal of a caller who may go before
   */
  async replay(runId: string, tenantId: string, signal?: AbortSignal): Promise<ReplayedRun> {
    try {
      return await this.#replayLimiter.run({ tenant_id: tenantId, signal }, async () => {
        const head = await this.#parts.archive.head(runId, tenantId);
        if (head === undefined) throw runNotFound(runId);
        return this.#replay(head, signal);
      });
    } catch (error) {
      throw signal?.aborted === true ? nobodyWaits(runId) : error;
    }
  }

  async #replay(head: StoredRunHead, signal: AbortSignal | undefined): Promise<ReplayedRun> {
    const { reader } = this.#parts;
    const recreated = await this.#read(head, signal, (context) => reader.recreate(head, context));
    if (recreated === undefined) throw runNotFound(head.id);
    const { run, release } = recreated;
    const close = (): void => run.budget.close();
    try {
      signal?.throwIfAborted();
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
    signal: AbortSignal | undefined,
    read: (context: ReadContext) => Promise<T>,
  ): Promise<T> {
    const missingFiles = this.#parts.createMissingFiles();
    try {
      return await read({ missingFiles, signal, reserve: (bytes) => this.#reserve(tenantId, bytes) });
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

/** The client who gets it has gone. */
function nobodyWaits(runId: string): WavetrainError {
  return new WavetrainError('not_ready', `nobody waits for run ${runId} any more`);
}

function cannotBeShown(runId: string): WavetrainError {
  const message = `the actors of run ${runId} cannot be shown: its facts do not lead to the end that it had`;
  return new WavetrainError('internal', message);
}
