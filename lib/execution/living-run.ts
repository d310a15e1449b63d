import type { RunStatus } from '../../machines/vocabulary.js';
import type { TaskFailure } from '../errors.js';
import type { Journal } from './journal.js';
import type { PlanOutcome } from './plan-outcome.js';
import type { RunOutcome } from './run-outcome.js';

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

/** A run at work or settled, of a pipeline or of a plan: what those need who keep runs and make records of them. */
export interface LivingRun {
  readonly id: string;
  readonly kind: 'pipeline' | 'plan';
  /** Of the pipeline or the plan. */
  readonly definitionId: string;
  readonly tenantId: string;
  /** With params applied. */
  readonly goal: string;
  /** The run that this one repeats; null for a first one (D35). */
  readonly rerunOf: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly status: RunStatus;
  /** Nothing of it is at work any more. */
  readonly isSettled: boolean;
  /** What a failed run failed of: the first failure in time (D16); null otherwise. */
  readonly error: string | null;
  /** In the order they happened. */
  readonly failures: readonly TaskFailure[];
  readonly progress: RunProgress;
  /** What has become of each sub-pipeline of a plan, in declared order; null for a pipeline. */
  readonly subPipelines: SubPipelineStatuses | null;
  /** Set only when succeeded. */
  readonly result: RunOutcome | PlanOutcome | null;
  /** What the run keeps in memory, in bytes, roughly. */
  readonly weight: number;
  readonly journal: Journal;
  /** Fulfilled when nothing of the run is at work any more; never rejects. */
  readonly settled: Promise<void>;
  /** Tells those who listen what the run's status is. */
  announce(): void;
  /** Begins a queued run. Never rejects. */
  begin(): Promise<void>;
  /** Cancels cooperatively; `force` also stops the tools in flight (rule 12, D21). */
  cancel(force: boolean): void;
  /** Ends the run where it stands, its tools with it. */
  stop(): void;
  /** The tree of its actors, as JSON. */
  tree(): unknown;
}
