import type { Plan } from '../plans/plan.js';
import type { RunInputs } from './run-inputs.js';

/** What a plan run starts from. `inputs` go over those of the plan, which hands them on to its sub-pipelines (D44). */
export interface PlanInputs
  extends Pick<RunInputs, 'inputs' | 'session' | 'options' | 'collect_events' | 'tenant_id'> {
  readonly plan: Plan;
  /** How many independent sub-pipelines may run together; instead of the plan's own (D45). */
  readonly plan_concurrency?: number;
}
