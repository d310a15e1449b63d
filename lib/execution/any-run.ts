import type { LocalRun } from './local-run.js';
import type { PlanRun } from './plan-run.js';

/** A run of a pipeline or of a plan. */
export type AnyRun = LocalRun | PlanRun;
