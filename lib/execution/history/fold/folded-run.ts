import type { Json } from '../../../common/json/json.js';
import type { FailedTask, TaskFailure, SkippedTask } from '../../../common/errors.js';
import type { RunStatus } from '../../../../machines/types.js';
import type { LiveEvent } from '../../events/event.js';
import type { Journal } from '../../events/journal.js';
import type { ArtifactStore } from '../../invocation/files/artifact-store.js';
import type { MemoryBudget } from '../../memory-budget.js';
import { collectOutcome } from '../../plan/plan-run.js';
import type { RunGroup } from '../../prepare/run-group.js';
import type { PreparedPlan } from '../../prepare/prepare-plan.js';
import type { PreparedRun } from '../../prepare/prepare-run.js';
import type {
  HandlerOutcome,
  PlanOutcome,
  RunArtifact,
  RunOutcome,
  SubPipelineStatuses,
} from '../../results.js';
import type { RunSummary } from '../../../common/wire/run-summary.js';
import type { FoldedWork } from './folded-work.js';
import type { ReadablePipelineRun, ReadablePlanRun, ReadableSubRun } from '../../run/readable-run.js';
import { listSkipped, listStatuses, toHandlerOutcome } from '../../results.js';

/** The parts that settled runs of pipelines and of plans share. */
export interface FoldedParts {
  readonly summary: RunSummary;
  readonly journal: Journal;
  readonly budget: MemoryBudget;
  readonly artifacts: ArtifactStore;
  readonly events: readonly LiveEvent[];
}

/** A settled run that was folded from its facts: it has no actor, and nothing of it will change (D74). */
abstract class BaseFoldedRun {
  readonly isSettled = true;
  readonly isPaused = false;
  readonly isHandling = false;
  /** Nothing of the run is at work: another process has settled it. */
  readonly isLeft = false;
  readonly settled = Promise.resolve();
  /** For a rerun, which counts as the run did (D81). */
  group: RunGroup | null = null;
  isOfFolder = false;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly journal: Journal;
  readonly budget: MemoryBudget;
  protected readonly summary: RunSummary;
  readonly #artifacts: ArtifactStore;
  #events: readonly LiveEvent[];

  constructor({ summary, journal, budget, artifacts, events }: FoldedParts) {
    this.summary = summary;
    this.journal = journal;
    this.budget = budget;
    this.#artifacts = artifacts;
    this.#events = events;
    this.createdAt = Date.parse(summary.created_at);
    this.startedAt = parseTime(summary.started_at);
    this.finishedAt = parseTime(summary.finished_at);
  }

  get id(): string {
    return this.summary.run_id;
  }

  get tenantId(): string {
    return this.summary.tenant_id;
  }

  get labels(): RunSummary['labels'] {
    return this.summary.labels;
  }

  get priority(): number {
    return this.summary.priority;
  }

  get rerunOf(): string | null {
    return this.summary.rerun_of;
  }

  get trigger(): RunSummary['trigger'] {
    return this.summary.trigger;
  }

  get startedBy(): RunSummary['started_by'] {
    return this.summary.started_by;
  }

  get definitionId(): string {
    return this.summary.pipeline_id;
  }

  get goal(): string {
    return this.summary.goal;
  }

  get status(): RunStatus {
    return this.summary.status;
  }

  get begunAt(): number | null {
    return this.startedAt;
  }

  get progress(): RunSummary['progress'] {
    return this.summary.progress;
  }

  get error(): string | null {
    return this.summary.error;
  }

  get errorCode(): string | null {
    return this.summary.error_code;
  }

  get failedTask(): RunSummary['failed_task'] {
    return this.summary.failed_task;
  }

  get artifacts(): readonly RunArtifact[] {
    return this.#artifacts.artifactsOf(this.id);
  }

  /** Resolves when what can be seen of the run is kept: it was read from there. */
  committed(): undefined {
    return undefined;
  }

  /** Returns the events of the run, once: there may be very many. */
  takePastEvents(): readonly LiveEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** A settled run of a pipeline. */
export class FoldedPipelineRun extends BaseFoldedRun implements ReadablePipelineRun {
  readonly kind = 'pipeline';
  readonly subPipelines = null;
  readonly prepared: PreparedRun;
  readonly work: FoldedWork;

  constructor(prepared: PreparedRun, work: FoldedWork, parts: FoldedParts) {
    super(parts);
    this.prepared = prepared;
    this.work = work;
  }

  get failures(): readonly TaskFailure[] {
    return this.work.failures;
  }

  get skipped(): readonly SkippedTask[] {
    return this.work.skipped;
  }

  get handlerOutcome(): HandlerOutcome | null {
    return toHandlerOutcome(this.prepared.pipeline.handlers, this.work);
  }

  get result(): RunOutcome | null {
    if (this.status !== 'succeeded') return null;
    const { waves_executed, invocations: tasks_executed } = this.summary.progress;
    return { outputs: this.work.outputs, waves_executed, tasks_executed };
  }
}

/** The run of a sub-pipeline of a settled plan. */
export class FoldedSubRun implements ReadableSubRun {
  readonly isSettled = true;
  readonly prepared: PreparedRun;
  readonly work: FoldedWork;
  status: RunStatus = 'queued';
  error: string | null = null;
  errorCode: string | null = null;
  failedTask: FailedTask | null = null;
  startedAt: number | null = null;
  finishedAt: number | null = null;

  constructor(prepared: PreparedRun, work: FoldedWork) {
    this.prepared = prepared;
    this.work = work;
  }

  /** Read it of a plan that has succeeded: each of its sub-pipelines has, too. */
  get outcome(): RunOutcome {
    const { outputs, invocations: tasks_executed } = this.work;
    const { waves } = this.prepared.pipeline;
    const skipped = new Set(this.work.skipped.map(({ task_id: taskId }) => taskId));
    const executed = skipped.size === 0 ? waves : waves.filter((wave) => wave.some((id) => !skipped.has(id)));
    return { outputs, waves_executed: executed.length, tasks_executed };
  }
}

/** The runs of the sub-pipelines of a settled plan. */
export interface FoldedSubRuns {
  /** By sub-pipeline id, in the order in which they began. */
  readonly begun: ReadonlyMap<string, FoldedSubRun>;
  /** Why sub-pipelines were skipped, by their ids, in the order in which they were. */
  readonly skipped: ReadonlyMap<string, string>;
  /** The handlers of the plan; undefined when they have not begun. */
  readonly handlers: FoldedSubRun | undefined;
  /** The failures of all of them, in the order in which they happened. */
  readonly failures: readonly TaskFailure[];
  /** All values on the blackboard at the end of the plan. */
  readonly blackboard: Readonly<Record<string, Json>>;
}

/** A settled run of a plan. */
export class FoldedPlanRun extends BaseFoldedRun implements ReadablePlanRun {
  readonly kind = 'plan';
  readonly prepared: PreparedPlan;
  readonly subRuns: FoldedSubRuns;

  constructor(prepared: PreparedPlan, subRuns: FoldedSubRuns, parts: FoldedParts) {
    super(parts);
    this.prepared = prepared;
    this.subRuns = subRuns;
  }

  get failures(): readonly TaskFailure[] {
    return this.subRuns.failures;
  }

  get skipped(): readonly SkippedTask[] {
    return listSkipped(this.subRuns);
  }

  get subPipelines(): SubPipelineStatuses {
    return listStatuses(this.prepared.subRuns.keys(), this.subRuns);
  }

  get handlerOutcome(): HandlerOutcome | null {
    return toHandlerOutcome(this.prepared.handlers, this.subRuns.handlers?.work);
  }

  get result(): PlanOutcome | null {
    if (this.status !== 'succeeded') return null;
    return collectOutcome(this.prepared, this.subRuns, this.progress, this.journal.events);
  }
}

export type FoldedRun = FoldedPipelineRun | FoldedPlanRun;

function parseTime(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}
