import type { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { RestoredRuns } from '../../../lib/runs/registry.js';
import type { ReviveDefinition } from '../../../lib/runs/run-factory.js';
import { deferred } from '../../support/deferred.js';
import { ControlledRuns } from '../controlled-runs.js';
import { type Disk, MemoryStore } from './memory-store.js';

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
      readonly maxRuns?: number;
      readonly pipeline?: string;
      readonly memory?: MemoryPool;
      readonly pauseTimeoutMs?: number;
      readonly ttlMs?: number;
      readonly checkedBy?: string;
    } = {},
  ) {
    const store = new MemoryStore(disk);
    const {
      maxRunning = 10,
      maxRuns = 100,
      memory,
      pauseTimeoutMs,
      ttlMs = Number.POSITIVE_INFINITY,
      checkedBy,
    } = options;
    super(
      {
        store,
        eventBuffer: 100,
        ...(memory && { memory }),
        pauseTimeoutMs,
        checkedBy,
        admission: { maxRunning, maxQueued: 10 },
        retention: { maxRuns, ttlMs },
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

  #revive(onRevive: OnRevive): ReviveDefinition {
    return async ({ definition }, values) => {
      await onRevive(values);
      const pipeline = parsePipeline(JSON.stringify(definition), { tools: [this.controlled.tool] });
      return { kind: 'pipeline', pipeline };
    };
  }
}
