import { type Keep, readKeep } from '../../definition/run-fields/keep.js';
import { listSkipped, listStatuses, toHandlerOutcome } from '../results.js';
import { readPriority } from '../prepare/run-priority.js';
import { createActor, type SnapshotFrom } from 'xstate';
import { planMachine } from '../../../machines/plan.js';
import type { SubPipelineNeeds } from '../../../machines/readiness.js';
import { planPorts } from '../../../machines/sub-runs.js';
import { Timeline } from '../../common/clock.js';
import {
  describeFailedTask,
  errorMessage,
  findCause,
  RUN_TIMEOUT,
  type SkippedTask,
  type TaskFailure,
} from '../../common/errors.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import type { Json } from '../../common/json/json.js';
import { groupBy } from '../../definition/group-by.js';
import type { SubPipeline } from '../../plans/plan.js';
import type { TaskEvent } from '../events/event.js';
import { Journal, LifecycleEvents } from '../events/journal.js';
import type { PlacedHistory } from '../history/run-history.js';
import type { MemoryBudget } from '../memory-budget.js';
import type { PreparedPlan } from '../prepare/prepare-plan.js';
import type {
  HandlerOutcome,
  PlanOutcome,
  RunArtifact,
  RunProgress,
  RunResult,
  SubPipelineStatuses,
} from '../results.js';
import { BaseRun } from '../run/base-run.js';
import { type PipelineRun, toMachineInput } from '../run/pipeline-run.js';
import type { RunDependencies } from '../run-context.js';
import { SubRuns } from './sub-runs.js';

/** One run of a plan in this process: its actor, the runs of its sub-pipelines, and the journal that they share. */
export class PlanRun extends BaseRun<SnapshotFrom<typeof planMachine>> {
  readonly kind = 'plan';
  readonly prepared: PreparedPlan;
  readonly subRuns: SubRuns;
  readonly journal: Journal;
  readonly budget: MemoryBudget;
  protected readonly lifecycle: LifecycleEvents;
  readonly #artifacts: RunDependencies['artifacts'];

  /** @param history undefined when nothing of the run is kept for another process */
  constructor(
    prepared: PreparedPlan,
    dependencies: RunDependencies,
    budget: MemoryBudget,
    history?: PlacedHistory,
  ) {
    const { clock } = dependencies;
    super(history?.run.timeline ?? new Timeline(clock), clock, history, prepared.plan.definition.timeout);
    this.prepared = prepared;
    this.budget = budget;
    this.#artifacts = dependencies.artifacts;
    this.journal = new Journal(prepared.id, this.timeline, prepared.collectEvents, budget);
    if (history !== undefined) this.journal.keepIn(history.run, history.run.past.facts);
    this.lifecycle = new LifecycleEvents(this.journal, []);
    this.subRuns = new SubRuns(prepared, dependencies, this.journal, budget, history, this);
    const subPipelines = [...prepared.plan.subPipelines.values()].map(toNeeds);
    const handlers = prepared.handlers && toMachineInput(prepared.handlers).handlers;
    const input = { subPipelines, concurrency: prepared.concurrency, handlers };
    const actor = createActor(planMachine, { input });
    this.start(actor, planPorts, this.subRuns);
  }

  get definitionId(): string {
    return this.prepared.plan.definition.id;
  }

  get keep(): Keep | undefined {
    return readKeep(this.prepared.plan.definition.keep);
  }

  get priority(): number {
    return readPriority(this.prepared.plan.definition);
  }

  get goal(): string {
    return this.prepared.plan.definition.goal ?? '';
  }

  get failures(): readonly TaskFailure[] {
    return this.subRuns.failures;
  }

  get skipped(): readonly SkippedTask[] {
    return listSkipped(this.subRuns);
  }

  /** Names the sub-pipeline and the task of the first failure in time (D47). */
  get error(): string | null {
    if (this.status !== 'failed') return null;
    if (this.timeoutError !== null) return this.timeoutError;
    const cause = findCause(this.failures);
    if (cause !== undefined) return `${describeFailedTask(cause)}: ${cause.error}`;
    return this.subRuns.error ?? `internal error: ${errorMessage(this.fault)}`;
  }

  /** Names the sub-pipeline whose time was over, unless a task of another one had failed before. */
  override get timeoutError(): string | null {
    const own = super.timeoutError;
    if (own !== null || this.status !== 'failed') return own;
    const cause = findCause(this.failures);
    const isCause = ([id, { timeoutError }]: readonly [string, PipelineRun]): boolean =>
      timeoutError !== null && (cause === undefined || cause.sub_pipeline === id);
    const [id, run] = [...this.subRuns.begun].find(isCause) ?? [];
    return run === undefined ? null : `sub-pipeline "${id}": ${run.timeoutError}`;
  }

  get errorCode(): string | null {
    if (this.status !== 'failed') return null;
    if (this.timeoutError !== null) return RUN_TIMEOUT;
    const id = findCause(this.failures)?.sub_pipeline;
    return (id === undefined ? undefined : this.subRuns.begun.get(id)?.errorCode) ?? null;
  }

  get artifacts(): readonly RunArtifact[] {
    return this.#artifacts.artifactsOf(this.id);
  }

  get progress(): RunProgress {
    const { waves, tasks, subRuns } = this.prepared;
    const sums = { waves_executed: 0, tasks_settled: 0, invocations: 0, sub_pipelines_settled: 0 };
    for (const run of this.subRuns.begun.values()) {
      const { waves_executed, tasks_settled, invocations } = run.progress;
      sums.waves_executed += waves_executed;
      sums.tasks_settled += tasks_settled;
      sums.invocations += invocations;
      if (run.isSettled) sums.sub_pipelines_settled++;
    }
    for (const id of this.subRuns.skipped.keys()) {
      sums.tasks_settled += subRuns.get(id)?.pipeline.tasks.size ?? 0;
      sums.sub_pipelines_settled++;
    }
    const { waves_executed, tasks_settled, invocations, sub_pipelines_settled } = sums;
    // In the order in which a store keeps them, so that a record is the same before and after.
    return {
      waves,
      waves_executed,
      tasks,
      tasks_settled,
      invocations,
      sub_pipelines: subRuns.size,
      sub_pipelines_settled,
    };
  }

  get mayPause(): boolean {
    return [...this.prepared.subRuns.values()].some(({ breakpoints }) => breakpoints !== undefined);
  }

  get isPaused(): boolean {
    for (const run of this.subRuns.begun.values()) if (run.isPaused) return true;
    return false;
  }

  /** The longest wait of its sub-pipelines, with the number of all calls that wait. */
  get waitingFor(): WaitingFor | null {
    let longest: WaitingFor | null = null;
    let calls = 0;
    for (const [id, { waitingFor }] of this.subRuns.begun) {
      if (waitingFor === null) continue;
      calls += waitingFor.calls ?? 0;
      if (longest === null || waitingFor.since < longest.since) longest = { ...waitingFor, sub_pipeline: id };
    }
    // Handlers begin when nothing else waits any more.
    return longest === null ? (this.subRuns.handlers?.waitingFor ?? null) : { ...longest, calls };
  }

  protected override get concluded(): Promise<void> | undefined {
    return this.subRuns.concluded;
  }

  park(): void {
    const { begun } = this.subRuns;
    for (const [id, { pipeline }] of this.prepared.subRuns) {
      const run = begun.get(id);
      if (run === undefined) pipeline.templates.park();
      else if (run.isPaused) run.park();
    }
    this.budget.trim();
  }

  prepareTemplates(): Promise<void> | undefined {
    const paused = [...this.subRuns.begun.values()].filter(({ isPaused }) => isPaused);
    const preparing = paused.flatMap((run) => run.prepareTemplates() ?? []);
    return preparing.length === 0 ? undefined : Promise.all(preparing).then(() => undefined);
  }

  get subPipelines(): SubPipelineStatuses {
    return listStatuses(this.prepared.subRuns.keys(), this.subRuns);
  }

  get handlerOutcome(): HandlerOutcome | null {
    return toHandlerOutcome(this.prepared.handlers, this.subRuns.handlers?.work);
  }

  /** Stops the time of the plan: from now on, that of the handlers counts. */
  onHandlersBegin(): void {
    this.timeout?.stop();
  }

  override stop(): void {
    this.subRuns.stop();
    super.stop();
  }

  get result(): PlanOutcome | null {
    if (this.status !== 'succeeded') return null;
    return collectOutcome(this.prepared, this.subRuns, this.progress, this.journal.events);
  }
}

function toNeeds({ id, needs, skipRule }: SubPipeline): SubPipelineNeeds {
  return skipRule === undefined ? { id, needs } : { id, needs, isConditional: true };
}

/** The runs of the sub-pipelines of a plan that has succeeded, by id, and all values on the blackboard after the last of them. */
interface EndedSubRuns {
  readonly begun: ReadonlyMap<string, Pick<PipelineRun, 'outcome'>>;
  readonly blackboard: Readonly<Record<string, Json>>;
}

/** Collects what a succeeded plan produced (D47). */
export function collectOutcome(
  { plan, subRuns: prepared }: PreparedPlan,
  { begun, blackboard }: EndedSubRuns,
  { waves_executed, invocations }: RunProgress,
  events: readonly TaskEvent[] | null,
): PlanOutcome {
  const eventsById = events && groupBy(events, (event) => event.sub_pipeline);
  const results = [...prepared.keys()].flatMap((id): [string, RunResult][] => {
    const run = begun.get(id);
    if (run === undefined) return [];
    return [[id, { ...run.outcome, events: eventsById && (eventsById.get(id) ?? []) }]];
  });
  return {
    plan_id: plan.definition.id,
    sub_results: Object.fromEntries(results),
    blackboard,
    total_tasks_executed: invocations,
    total_waves: waves_executed,
  };
}
