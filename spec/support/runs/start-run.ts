import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { LocalExecutorOptions } from '../../../lib/execution/executor-options.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { RunInputs } from '../../../lib/execution/prepare/run-inputs.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { type RunRecord, toRunRecord } from '../../../lib/runs/record.js';
import type { Tool } from '../../../lib/tools/tool.js';
import { settle } from '../deferred.js';
import { ManualClock } from '../manual-clock.js';

export { RunRegistry };

export interface TestRun {
  readonly clock: ManualClock;
  readonly executor: LocalExecutor;
  readonly runId: string;
  readonly events: readonly LiveEvent[];
  record(): RunRecord;
  /** Advances the clock, and waits until its timers have run. */
  advance(ms: number): Promise<void>;
}

export interface TestRunOptions extends Omit<RunInputs, 'pipeline'> {
  readonly tools?: readonly Tool[];
  readonly executor?: LocalExecutorOptions;
  readonly onEvent?: (event: LiveEvent) => void;
  /** Further fields of the pipeline, each followed by a comma. */
  readonly head?: string;
  /** Subscribes no listener. */
  readonly silent?: boolean;
}

/**
 * Begins a run of a pipeline with a manual clock, and with a blackboard of its own unless the options provide one, as in a
 * registry. `tasks` is a YAML flow list of tasks.
 */
export async function startRun(tasks: string, options: TestRunOptions = {}): Promise<TestRun> {
  const { tools = [], executor: executorOptions, onEvent, head = '', silent = false, ...run } = options;
  const clock = new ManualClock();
  const executor = new LocalExecutor({ clock, random: () => 0.5, ...executorOptions });
  const values = { inputs: run.inputs ?? {}, session: run.session ?? {} };
  const pipeline = parsePipeline(`{id: spec, goal: be checked, ${head} tasks: [${tasks}]}`, {
    tools,
    ...values,
  });
  const events: LiveEvent[] = [];
  const listener = onEvent ?? ((event: LiveEvent) => void events.push(event));
  const created = executor.createRun({ pipeline, ...run });
  if (!silent) created.journal.subscribe(listener);
  void created.begin();
  const runId = created.id;
  await settle();
  return {
    clock,
    executor,
    runId,
    events,
    record: () => toRunRecord(executor.getRun(runId)),
    advance: async (ms) => {
      clock.advance(ms);
      await settle();
    },
  };
}
