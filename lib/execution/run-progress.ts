import type { RunStatus } from '../../machines/vocabulary.js';

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
