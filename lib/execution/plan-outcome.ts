import type { Json } from '../common/json.js';
import type { TaskEvent } from './event.js';
import type { RunResult } from './run-outcome.js';

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
