import type { Labels } from '../../common/wire/labels.js';
import type { Duration } from '../../common/duration.js';
import type { JsonObject } from '../../common/json/json.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { Plan } from '../../plans/plan.js';

/** Options of a run (ExecutionOptions), for tasks that say nothing else (D66). Durations are in seconds, or texts such as `5m`, as on the wire. */
export interface ExecutionOptions {
  /** Timeout of one attempt; null for none. Default null. */
  readonly per_task_timeout?: Duration | null;
  /** Delay before the first retry. Default 0.5. */
  readonly retry_base_delay?: Duration;
  /** Maximum delay before a retry. Default 4.0. */
  readonly max_retry_delay?: Duration;
  /** Random fraction by which a delay varies, 0 to 1. Default 0. */
  readonly backoff_jitter?: number;
  /** Maximum number of items of one fan-out in flight; null for unlimited. Default null. */
  readonly fan_out_concurrency?: number | null;
  /** False calls every tool, also of tasks with `cache` (D65). Default true. */
  readonly cache?: boolean;
}

/** Where a run pauses until somebody lets it go on, to be looked at (D42). */
export interface Breakpoints {
  /** Ids of tasks before whose wave the run pauses; in a plan, `sub_pipeline/task`. At most 100. */
  readonly before?: readonly string[];
  /** Pauses when a task has failed and its wave has settled, before the run fails. Default false. */
  readonly on_failure?: boolean;
}

/** A definition without errors. */
export type CheckedDefinition =
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline }
  | { readonly kind: 'plan'; readonly plan: Plan };

/** The inputs of a run (Run inputs). */
export interface RunInputs {
  readonly pipeline: Pipeline;
  /**
   * The text that the definition was read from, with its comments, to be shown to people who change it (D59). Up to 1 MiB
   * of it are kept with the run, and of a plan only when its pipelines are in it.
   */
  readonly submitted_text?: string | undefined;
  /** Values of the typed parameters; the others get their defaults (rule 10). */
  readonly params?: JsonObject;
  /** Merged over the pipeline's own `inputs`, key by key (rule 9, D5). */
  readonly inputs?: JsonObject;
  /** Readable as `{{session.KEY}}` before any task runs. */
  readonly session?: JsonObject;
  readonly options?: ExecutionOptions;
  readonly breakpoints?: Breakpoints;
  /** Win over the labels of the definition, name by name (D76). */
  readonly labels?: Labels;
  /** Collects the start, finish and fail events of every task. Default false. */
  readonly collect_events?: boolean;
  /** Namespace on the blackboard. Default `default`. */
  readonly tenant_id?: string;
}

/** The inputs of a plan run. `inputs` override those of the plan, which passes them to its sub-pipelines (D44). */
export interface PlanInputs
  extends Pick<
    RunInputs,
    | 'submitted_text'
    | 'inputs'
    | 'session'
    | 'options'
    | 'breakpoints'
    | 'labels'
    | 'collect_events'
    | 'tenant_id'
  > {
  readonly plan: Plan;
  /** Maximum number of sub-pipelines that run together; overrides the plan's own (D45). */
  readonly plan_concurrency?: number;
}
