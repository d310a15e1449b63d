import type { Outcome } from './task-work.js';

/** An earlier run that a rerun takes over from (D35). */
export interface Origin {
  readonly runId: string;
  /** By task id: these tasks publish what they published then, instead of calling their tools again. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}
