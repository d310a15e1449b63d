import type { MemoryPool } from '../../common/memory/memory-pool.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { FoldedRun } from '../../execution/history/fold/folded-run.js';
import type { ReadableRun } from '../../execution/run/readable-run.js';
import { runNotFound } from '../../execution/local-executor.js';
import type { ArchivedRuns } from '../store/archived-runs.js';
import type { Restoration } from '../store/restore/restoration.js';
import type { WantedItems } from '../store/run-store.js';
import type { HoldMemory } from '../tasks/task-pages.js';
import type { RunIndex } from './run-index.js';

/** @param hold takes memory for what is rendered */
export type CreateSteps<T> = (run: ReadableRun, hold: HoldMemory) => Steps<T>;

interface ReaderParts {
  readonly runs: RunIndex;
  readonly restoration: () => Restoration | undefined;
  /** Undefined without a store that has an archive. */
  readonly archived: ArchivedRuns | undefined;
  readonly memory: MemoryPool | undefined;
}

/** Makes runs readable that are not in memory, and looks at them in turns with other requests. */
export class RunOpener {
  readonly #parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /** As `RunQueries.open`. */
  async open(
    runId: string,
    tenants: readonly string[] | null,
    openSignal?: () => AbortSignal,
  ): Promise<() => void> {
    await this.#load(runId, tenants, undefined, openSignal);
    return this.#parts.runs.get(runId)?.retain() ?? NO_OP;
  }

  /** @param only as in `SettledRunLoader.load` @param openSignal as in `RunQueries.open` */
  async #load(
    runId: string,
    tenants: readonly string[] | null,
    only?: WantedItems,
    openSignal?: () => AbortSignal,
  ): Promise<FoldedRun | undefined> {
    const { runs, restoration, archived } = this.#parts;
    if (runs.has(runId)) return undefined;
    await restoration()?.whenRestored(runId, tenants);
    return runs.has(runId) ? undefined : archived?.load(runId, tenants, only, openSignal?.());
  }

  /** Looks at a run in memory. The memory of the run counts meanwhile, even if it is forgotten, and so does what is rendered. */
  async look<T>(runId: string, createSteps: CreateSteps<T>): Promise<T> {
    const entry = this.#parts.runs.find(runId);
    const release = entry.retain();
    try {
      return await this.#lookAt(entry.run, createSteps);
    } finally {
      release();
    }
  }

  /**
   * Opens a run, and looks at it. Of a large one that has settled, only what the items need is read, for this caller alone.
   *
   * @param tenants null for all
   * @param only undefined to look at the whole run
   */
  async lookAtItems<T>(
    runId: string,
    tenants: readonly string[] | null,
    only: WantedItems | undefined,
    createSteps: CreateSteps<T>,
    openSignal?: () => AbortSignal,
  ): Promise<T> {
    const part = await this.#load(runId, tenants, only, openSignal);
    if (part === undefined) {
      const { tenantId } = this.#parts.runs.find(runId).run;
      if (tenants?.includes(tenantId) === false) throw runNotFound(runId);
      return this.look(runId, createSteps);
    }
    try {
      return await this.#lookAt(part, createSteps);
    } finally {
      part.budget.close();
    }
  }

  async #lookAt<T>(run: ReadableRun, createSteps: CreateSteps<T>): Promise<T> {
    const { memory } = this.#parts;
    const { tenantId } = run;
    let heldBytes = 0;
    const hold: HoldMemory = (bytes) => {
      memory?.reserve(tenantId, bytes, 'response');
      heldBytes += bytes;
    };
    try {
      return await runInSlices(createSteps(run, hold), tenantId);
    } finally {
      memory?.release(tenantId, heldBytes);
    }
  }
}

const NO_OP = (): void => {};
