import type { PlanRun } from '../plan/plan-run.js';
import type { PipelineRun } from './pipeline-run.js';
import type { RunWork } from './run-work.js';

/** The fields of a run that lists show. */
export type ListedField =
  | 'id'
  | 'tenantId'
  | 'labels'
  | 'priority'
  | 'rerunOf'
  | 'trigger'
  | 'startedBy'
  | 'definitionId'
  | 'goal'
  | 'status'
  | 'isSettled'
  | 'isPaused'
  | 'createdAt'
  | 'begunAt'
  | 'finishedAt'
  | 'progress'
  | 'error'
  | 'errorCode'
  | 'failedTask';

/** The fields of a run that its record and its views read. */
type Shown =
  | ListedField
  | 'startedAt'
  | 'failures'
  | 'skipped'
  | 'result'
  | 'handlerOutcome'
  | 'artifacts'
  | 'journal'
  | 'budget';

/** The outcomes of the tasks of one pipeline: of a run at work, or folded from the facts of a settled one. */
export type ReadableWork = Pick<
  RunWork,
  | 'outputs'
  | 'handlerOutputs'
  | 'failures'
  | 'handlerFailures'
  | 'skipped'
  | 'reuse'
  | 'getTrace'
  | 'getOutcome'
  | 'writesBefore'
  | 'runNamespace'
> &
  /** Nothing waits in a run that is folded. */
  Partial<Pick<RunWork, 'findWait'>>;

/** A run of a pipeline as views read it: one of this process, or one that is folded from its facts (D74). */
export interface ReadablePipelineRun extends Pick<PipelineRun, Shown | 'kind' | 'subPipelines' | 'prepared'> {
  readonly work: ReadableWork;
}

/** The run of a sub-pipeline of a plan. */
export interface ReadableSubRun
  extends Pick<PipelineRun, 'prepared' | 'status' | 'isSettled' | 'startedAt' | 'finishedAt'> {
  readonly work: ReadableWork;
}

/** A run of a plan as views read it. */
export interface ReadablePlanRun extends Pick<PlanRun, Shown | 'kind' | 'subPipelines' | 'prepared'> {
  readonly subRuns: {
    readonly begun: ReadonlyMap<string, ReadableSubRun>;
    readonly skipped: ReadonlyMap<string, string>;
    /** The run of the plan's own handlers (D80); undefined until they begin. */
    readonly handlers: ReadableSubRun | undefined;
  };
}

export type ReadableRun = ReadablePipelineRun | ReadablePlanRun;
