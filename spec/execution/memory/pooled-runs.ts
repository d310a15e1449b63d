import { type Limit } from '../../../lib/common/memory/shared-limit.js';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import type { RunInputs } from '../../../lib/execution/prepare/run-inputs.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';

export const MIB = 2 ** 20;

/** Runs that share a pool of memory, on a manual clock, with the tool `controlled`. */
export class PooledRuns {
  readonly clock = new ManualClock();
  readonly controlled = new ControlledTool();
  readonly memory: MemoryPool;
  readonly registry: RunRegistry;

  constructor(limit: Limit, memory = new MemoryPool(limit)) {
    this.memory = memory;
    this.registry = new RunRegistry({
      clock: this.clock,
      random: () => 0.5,
      memory: this.memory,
      eventBuffer: 1000,
    });
  }

  /** Submits a pipeline; `tasks` is a YAML flow list of tasks. */
  async submit(tasks: string, run: Omit<RunInputs, 'pipeline'> = {}): Promise<string> {
    const pipeline = parsePipeline(`{id: p, goal: g, tasks: [${tasks}]}`, {
      tools: [this.controlled.tool],
      inputs: run.inputs ?? {},
    });
    const runId = await this.registry.submit({ pipeline, ...run });
    await settle();
    return runId;
  }

  /** Advances the clock until the run has settled. */
  async finish(runId: string): Promise<RunRecord> {
    for (let step = 0; step < 1000 && !this.registry.record(runId).settled; step++) {
      await settle();
      this.clock.advance(1000);
    }
    await settle();
    return this.registry.record(runId);
  }
}
