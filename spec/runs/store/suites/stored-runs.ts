import type { MemoryPool } from '../../../../lib/common/memory/memory-pool.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import type { RestoredRuns } from '../../../../lib/runs/store/restore/restoration.js';
import type { ReviveDefinition } from '../../../../lib/runs/store/restore/stored-run-reader.js';
import type { ArchiveLimits } from '../../../../lib/runs/store/run-archive.js';
import { deferred } from '../../../support/deferred.js';
import { ControlledRuns } from '../../controlled-runs.js';
import { type Disk, MemoryStore } from '../memory/memory-store.js';

type OnRevive = (values: {
  readonly tenant_id: string;
  readonly isChecked: boolean;
}) => Promise<void> | undefined | void;

/** A registry of a process. The one before may have crashed: it is simply not used any more. */
export class StoredRuns extends ControlledRuns {
  readonly store: MemoryStore;

  constructor(
    disk: Disk,
    options: {
      readonly maxRunning?: number;
      readonly pipeline?: string;
      readonly memory?: MemoryPool;
      readonly pauseTimeoutMs?: number;
      readonly archiveLimits?: ArchiveLimits;
      readonly checkedBy?: string;
    } = {},
  ) {
    const store = new MemoryStore(disk);
    const { maxRunning = 10, memory, pauseTimeoutMs, archiveLimits, checkedBy } = options;
    super(
      {
        store,
        eventBuffer: 100,
        ...(memory && { memory }),
        pauseTimeoutMs,
        checkedBy: checkedBy === undefined ? undefined : () => checkedBy,
        admission: { maxRunning, maxQueued: 10 },
        ...(archiveLimits && { archiveLimits }),
      },
      options.pipeline,
    );
    this.store = store;
  }

  /** @param onRevive is called, and waited for, before a definition is checked */
  async restore(onRevive: OnRevive = () => undefined): Promise<this> {
    await this.registry.restore(this.#revive(onRevive));
    await this.waitUntilIdle();
    return this;
  }

  /** Begins to restore, and resolves when the runs are listed. */
  async list(onRevive: OnRevive = () => undefined): Promise<Promise<RestoredRuns | undefined>[]> {
    const listed = deferred<void>();
    const restored = this.registry.restore(this.#revive(onRevive), () => listed.resolve());
    await listed.promise;
    // In a list, because a promise of a promise would wait for it.
    return [restored];
  }

  /** The ids of all runs, the newest first, with those in the archive. */
  async listKeptIds(): Promise<string[]> {
    const { runs } = await this.registry.queries.listInTurns({ limit: 500 }, 'default');
    return runs.map(({ run_id }) => run_id);
  }

  /** The record of a run that may be in the archive. */
  async show(runId: string): Promise<RunRecord> {
    const close = await this.registry.queries.open(runId, null);
    try {
      return this.registry.record(runId);
    } finally {
      close();
    }
  }

  #revive(onRevive: OnRevive): ReviveDefinition {
    return async ({ definition }, values) => {
      await onRevive(values);
      const pipeline = parsePipeline(JSON.stringify(definition), { tools: [this.controlled.tool] });
      return { kind: 'pipeline', pipeline };
    };
  }
}
