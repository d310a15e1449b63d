import { type Keep, readKeep } from '../../definition/run-fields/keep.js';
import { readPriority } from '../prepare/run-priority.js';
import { createActor } from 'xstate';
import { runPorts } from '../../../machines/ports.js';
import { runMachine, type RunMachineInput } from '../../../machines/run.js';
import { countWavesExecuted, isPaused, type RunSnapshot } from '../../../machines/status.js';
import { MemoryBlackboard, OwnBlackboard } from '../session/memory-blackboard.js';
import { Timeline } from '../../common/clock.js';
import {
  errorMessage,
  findCause,
  RUN_TIMEOUT,
  type SkippedTask,
  type TaskFailure,
} from '../../common/errors.js';
import { Journal, LifecycleEvents } from '../events/journal.js';
import { findCode } from '../invocation/thrown-error.js';
import type { PlacedHistory } from '../history/run-history.js';
import type { MemoryBudget } from '../memory-budget.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import { WaitingCalls } from '../invocation/waiting-calls.js';
import { NestedRuns } from '../nested/nested-runs.js';
import type { PreparedRun } from '../prepare/prepare-run.js';
import type { RunArtifact, RunOutcome, RunProgress } from '../results.js';
import type { InvocationServices, ParentRunContext, RunDependencies } from '../run-context.js';
import { SessionOverrides, type Write } from '../session/session-overrides.js';
import { Session } from '../session/session.js';
import { BaseRun } from './base-run.js';
import { eventLoopBudget } from './event-loop-budget.js';
import { RunWork } from './run-work.js';

/** One run of a pipeline in this process: its actor, its work, its journal. */
export class PipelineRun extends BaseRun<RunSnapshot> {
  readonly kind = 'pipeline';
  readonly subPipelines = null;
  readonly prepared: PreparedRun;
  readonly work: RunWork;
  protected readonly lifecycle: LifecycleEvents;
  readonly #services: RunServices;
  /** True when the run holds the templates of its pipeline. */
  #isHolding = false;

  /** @param parent set for a sub-run or a nested run @param history of a submitted run that is kept for another process */
  constructor(
    prepared: PreparedRun,
    dependencies: RunDependencies,
    budget: MemoryBudget,
    parent?: ParentRunContext,
    history?: PlacedHistory,
  ) {
    const kept = parent?.history ?? history;
    const { clock } = dependencies;
    const timeline = parent?.journal.timeline ?? kept?.run.timeline ?? new Timeline(clock);
    super(timeline, clock, kept, prepared.pipeline.definition.timeout);
    this.prepared = prepared;
    this.#services = new RunServices(prepared, dependencies, this.timeline, budget, parent, kept);
    this.lifecycle = new LifecycleEvents(this.journal, prepared.pipeline.waves);
    this.work = new RunWork(this.#services, (wave) => this.lifecycle.beginWave(wave, this));
    const actor = parent?.actor ?? createActor(runMachine, { input: toMachineInput(prepared) });
    this.start(actor, runPorts, this.work);
    // Nobody else learns of a pause: no wave begins, and nothing was sent to the run.
    if (this.mayPause) actor.subscribe(() => this.#onTransition());
  }

  get definitionId(): string {
    return this.prepared.pipeline.definition.id;
  }

  get keep(): Keep | undefined {
    return readKeep(this.prepared.pipeline.definition.keep);
  }

  get priority(): number {
    return readPriority(this.prepared.pipeline.definition);
  }

  get goal(): string {
    return this.prepared.goal;
  }

  get journal(): Journal {
    return this.#services.journal;
  }

  /** The blackboard writes of the run's succeeded tasks, in order. */
  get writes(): readonly Write[] {
    return this.work.writes;
  }

  get failures(): readonly TaskFailure[] {
    return this.work.failures;
  }

  get skipped(): readonly SkippedTask[] {
    return this.work.skipped;
  }

  get progress(): RunProgress {
    const { waves, tasks } = this.prepared.pipeline;
    return {
      waves: waves.length,
      waves_executed: countWavesExecuted(this.snapshot),
      tasks: tasks.size,
      tasks_settled: this.work.tasksSettled,
      invocations: this.#services.invocations,
    };
  }

  /** What calls of the run wait for; null when none does. */
  get waitingFor(): WaitingFor | null {
    return this.#services.waitingFor;
  }

  /** The outputs of the run so far, and how much of it has been executed. */
  get outcome(): RunOutcome {
    return {
      outputs: this.work.outputs,
      waves_executed: countWavesExecuted(this.snapshot),
      tasks_executed: this.#services.invocations,
    };
  }

  get mayPause(): boolean {
    return this.prepared.breakpoints !== undefined;
  }

  get isPaused(): boolean {
    return isPaused(this.snapshot);
  }

  get result(): RunOutcome | null {
    return this.status === 'succeeded' ? this.outcome : null;
  }

  get error(): string | null {
    if (this.status !== 'failed') return null;
    if (this.timeoutError !== null) return this.timeoutError;
    return findCause(this.failures)?.error ?? `internal error: ${errorMessage(this.fault)}`;
  }

  get errorCode(): string | null {
    if (this.status !== 'failed') return null;
    if (this.timeoutError !== null) return RUN_TIMEOUT;
    const cause = findCause(this.failures);
    const failed = cause && this.work.getTrace(cause.task_id)?.failedAttempts(cause.item);
    return failed?.error === undefined ? null : findCode(failed.error);
  }

  get artifacts(): readonly RunArtifact[] {
    return this.#services.dependencies.artifacts.artifactsOf(this.id);
  }

  get budget(): MemoryBudget {
    return this.#services.budget;
  }

  #onTransition(): void {
    // The end of the run is written when everything else of it is.
    if (this.isSettled) return;
    if (this.isPaused) {
      this.lifecycle.closeWave();
      // A run that is rebuilt goes on at once.
      if (this.#services.history?.replay === undefined) this.park();
    } else if (this.startedAt !== null) this.#holdTemplates();
    this.emitStatus();
  }

  park(): void {
    const { templates } = this.prepared.pipeline;
    this.#releaseTemplates();
    templates.park();
    this.budget.trim();
  }

  prepareTemplates(): Promise<void> | undefined {
    this.#holdTemplates();
    const { stepRunner } = this.#services.dependencies;
    const { pipeline, tenantId } = this.prepared;
    return pipeline.templates.needsSteps ? stepRunner.run(pipeline.templates.compile(), tenantId) : undefined;
  }

  #holdTemplates(): void {
    if (this.#isHolding) return;
    this.#isHolding = true;
    this.prepared.pipeline.templates.hold();
  }

  #releaseTemplates(): void {
    if (this.#isHolding) this.prepared.pipeline.templates.release();
    this.#isHolding = false;
  }

  /** Called when the plan that contains this run is cancelled; the plan's machine has cancelled its actor already. */
  onPlanCancelled(): void {
    this.cancelNestedRuns(false);
    this.emitStatus();
  }

  protected override prepareToBegin(): Promise<void> | undefined {
    const compiling = this.prepareTemplates();
    const reading = this.#readBlackboard();
    return compiling === undefined ? reading : compiling.then(() => reading);
  }

  /** Reads the blackboard. When that fails, the first wave fails with the reason. */
  #readBlackboard(): Promise<void> | undefined {
    const { session, parent } = this.#services;
    const { blackboard, pipeline } = this.prepared;
    const needsNothing = blackboard instanceof OwnBlackboard && pipeline.contract.reads.size === 0;
    if (blackboard === undefined || (needsNothing && parent === undefined)) {
      session.showOverrides();
      return undefined;
    }
    return session.readBlackboard(pipeline.definition.reads).catch((thrown: unknown) => {
      this.work.startError = `the blackboard cannot be read: ${errorMessage(thrown)}`;
    });
  }

  protected override cancelNestedRuns(force: boolean): void {
    this.#services.cancelNestedRuns(force);
  }

  protected override onEnd(): void {
    this.lifecycle.closeWave();
    this.#releaseTemplates();
    this.#services.close();
  }
}

/** Returns the part of a run that its machine is given. */
export function toMachineInput({ pipeline: { waves }, breakpoints }: PreparedRun): RunMachineInput {
  return { waves, breakpoints };
}

/** The services that the invocations of one run share. A sub-run or nested run takes some from its outer run. */
class RunServices implements InvocationServices {
  readonly prepared: PreparedRun;
  readonly dependencies: RunDependencies;
  readonly parent: ParentRunContext | undefined;
  readonly history: PlacedHistory | undefined;
  readonly journal: Journal;
  readonly session: Session;
  readonly budget: MemoryBudget;
  invocations = 0;
  readonly keyPath: string;
  #calls: Map<string, number> | undefined;
  #memory: Map<string, unknown> | undefined;
  #nestedRuns: NestedRuns | undefined;
  #waitingCalls: WaitingCalls | undefined;
  #isCancelled = false;
  #isForced = false;

  constructor(
    prepared: PreparedRun,
    dependencies: RunDependencies,
    timeline: Timeline,
    budget: MemoryBudget,
    parent: ParentRunContext | undefined,
    history: PlacedHistory | undefined,
  ) {
    this.prepared = prepared;
    this.dependencies = dependencies;
    this.parent = parent;
    this.history = history;
    this.keyPath = parent?.keyPath ?? '';
    this.journal = parent?.journal ?? new Journal(prepared.id, timeline, prepared.collectEvents, budget);
    if (parent === undefined && history !== undefined)
      this.journal.keepIn(history.run, history.run.past.facts);
    this.session = new Session(
      prepared.blackboard ?? new MemoryBlackboard(),
      prepared.ownsBlackboard,
      prepared.tenantId,
      parent?.overrides ?? new SessionOverrides(prepared.session),
      prepared.pipeline.contract,
      budget,
    );
    this.budget = budget;
  }

  countCalls(tool: string, calls: number): number {
    this.#calls ??= new Map();
    const count = (this.#calls.get(tool) ?? 0) + calls;
    this.#calls.set(tool, count);
    return count;
  }

  /** Created when first used: most tools share nothing. */
  get memory(): Map<string, unknown> {
    return (this.#memory ??= new Map());
  }

  /** Created when first used: most runs have no nested runs. */
  get nestedRuns(): NestedRuns {
    this.#nestedRuns ??= new NestedRuns(
      this,
      (prepared, budget, parent, models) =>
        new PipelineRun(prepared, { ...this.dependencies, models }, budget, parent),
    );
    if (this.#isCancelled) void this.#nestedRuns.cancel(this.#isForced);
    return this.#nestedRuns;
  }

  /** Created when first used: most runs have no tasks with a pool. */
  get waitingCalls(): WaitingCalls {
    this.#waitingCalls ??= new WaitingCalls();
    if (this.#isCancelled) this.#waitingCalls.isCancelled = true;
    return this.#waitingCalls;
  }

  get waitingFor(): WaitingFor | null {
    return this.#waitingCalls?.waitingFor ?? null;
  }

  /** Cancels the nested runs and the waits for places, if there are any, and prevents further ones. */
  cancelNestedRuns(force: boolean): void {
    this.#isCancelled = true;
    if (force) this.#isForced = true;
    void this.#nestedRuns?.cancel(force);
    void this.#waitingCalls?.cancel(eventLoopBudget.forTenant(this.prepared.tenantId));
  }

  /** Releases the services that only tasks need. */
  close(): void {
    this.session.close();
    this.#nestedRuns?.close();
  }
}
