import type { Json } from '../common/json.js';
import type { TaskEvent } from './event.js';

/** What a run that succeeded produced. */
export interface RunOutcome {
  /** Task id to output. */
  readonly outputs: Record<string, Json>;
  readonly waves_executed: number;
  /** Tool invocations, each item counted (D20). */
  readonly tasks_executed: number;
}

/** The result of a run that was waited for (RunResult). */
export interface RunResult extends RunOutcome {
  readonly events: readonly TaskEvent[] | null;
}

/** What a run has produced so far. */
export function outcomeOf(run: {
  readonly work: { readonly outputs: Record<string, Json> };
  readonly wavesExecuted: number;
  readonly invocations: number;
}): RunOutcome {
  return {
    outputs: run.work.outputs,
    waves_executed: run.wavesExecuted,
    tasks_executed: run.invocations,
  };
}
