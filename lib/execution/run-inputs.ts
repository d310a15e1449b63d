import type { JsonObject } from '../common/json.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { Plan } from '../plans/plan.js';

/** How a run behaves (ExecutionOptions). Times are seconds, as on the wire. */
export interface ExecutionOptions {
  /** Longest time of one attempt; null is no limit. Default null. */
  readonly per_task_timeout?: number | null;
  /** Before the first retry. Default 0.5. */
  readonly retry_base_delay?: number;
  /** No retry waits longer. Default 4.0. */
  readonly max_retry_delay?: number;
  /** Random fraction by which a delay varies, 0 to 1. Default 0. */
  readonly backoff_jitter?: number;
  /** Items of one fan-out in flight at once; null is unlimited. Default null. */
  readonly fan_out_concurrency?: number | null;
}

/** What a run starts from (Run inputs). */
export interface RunInputs {
  readonly pipeline: Pipeline;
  /** Values of the typed parameters; defaults apply to the rest (rule 10). */
  readonly params?: JsonObject;
  /** Merged over the pipeline's own `inputs`, key by key (rule 9, D5). */
  readonly inputs?: JsonObject;
  /** Readable as `{{session.KEY}}` before any task runs. */
  readonly session?: JsonObject;
  readonly options?: ExecutionOptions;
  /** Keep the start, finish and fail events of every task. Default false. */
  readonly collect_events?: boolean;
  /** Namespace on the blackboard. Default `default`. */
  readonly tenant_id?: string;
}

/** What a plan run starts from. `inputs` go over those of the plan, which hands them on to its sub-pipelines (D44). */
export interface PlanInputs
  extends Pick<RunInputs, 'inputs' | 'session' | 'options' | 'collect_events' | 'tenant_id'> {
  readonly plan: Plan;
  /** How many independent sub-pipelines may run together; instead of the plan's own (D45). */
  readonly plan_concurrency?: number;
}
