import type { Blackboard } from '../blackboard/blackboard.js';
import type { JsonObject } from '../common/json.js';
import type { Plan } from '../plans/plan.js';
import type { PlanOrigin } from './origin.js';
import type { PreparedRun } from './prepared-run.js';
import type { ExecutionOptions } from './run-inputs.js';

/** Plan inputs that were checked, for the plan and for each of its sub-pipelines. */
export interface PreparedPlan {
  readonly id: string;
  readonly plan: Plan;
  readonly tenantId: string;
  /** As they were given, for a rerun. */
  readonly inputs: JsonObject;
  readonly session: JsonObject;
  readonly given: ExecutionOptions;
  readonly concurrency: number;
  /** Of all its pipelines together. */
  readonly waves: number;
  readonly tasks: number;
  /** By sub-pipeline id, in declared order. */
  readonly subRuns: ReadonlyMap<string, PreparedRun>;
  /** What it takes in memory, in bytes, roughly. */
  readonly weight: number;
  readonly collectEvents: boolean;
  readonly blackboard: Blackboard;
  /** It was made for this run. */
  readonly isOurs: boolean;
  /** The run that this one repeats in part (D35). */
  readonly origin: PlanOrigin | undefined;
}
