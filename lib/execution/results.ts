import type { RunStatus } from '../../machines/types.js';
import type { Json } from '../common/json.js';
import type { TaskEvent } from './events/event.js';

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

/** What a plan that succeeded produced (D47). */
export interface PlanOutcome {
  readonly plan_id: string;
  /** Sub-pipeline id to result, in declared order. */
  readonly sub_results: Record<string, RunResult>;
  /** All that stands on the blackboard of the tenant at the end (Plan, rule 4). */
  readonly blackboard: Record<string, Json>;
  /** Tool invocations, each item counted (D20). */
  readonly total_tasks_executed: number;
  /** Waves that settled, of all sub-pipelines together. */
  readonly total_waves: number;
}

/** The result of a plan run that was waited for. */
export interface PlanResult extends PlanOutcome {
  readonly events: readonly TaskEvent[] | null;
}

/** How far a run has come (D28). Of a plan: sums over its sub-pipelines. */
export interface RunProgress {
  readonly waves: number;
  readonly waves_executed: number;
  readonly tasks: number;
  readonly tasks_settled: number;
  /** Tool invocations started, each item counted (D20). */
  readonly invocations: number;
  /** Of a plan only. */
  readonly sub_pipelines?: number;
  readonly sub_pipelines_settled?: number;
}

/** Sub-pipeline id to the status of its run; null: it has not begun. */
export type SubPipelineStatuses = Record<string, RunStatus | null>;
