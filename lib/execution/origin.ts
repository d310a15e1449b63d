import type { Outcome } from './task-work.js';

/** An earlier run that a rerun takes over from (D35). */
export interface Origin {
  readonly runId: string;
  /** By task id: these tasks publish what they published then, instead of calling their tools again. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/** An earlier run of a plan: what is taken over from each of its sub-pipelines, by id. */
export interface PlanOrigin {
  readonly runId: string;
  readonly subRuns: ReadonlyMap<string, Origin>;
}
