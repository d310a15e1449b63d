import type { HandlerLists } from '../../../machines/handlers.js';
import type { HandlerListName } from '../../definition/schema/fields.js';
import type { HandlerWaves } from '../../pipelines/flow/handlers.js';
import type { Task } from '../../pipelines/pipeline.js';
import { RunHandlers } from './end/run-handlers.js';
import { type Keep, readKeep } from '../../definition/run-fields/keep.js';
import { readPriority } from '../prepare/run-priority.js';
import { createActor } from 'xstate';
import { runPorts } from '../../../machines/ports.js';
import { runMachine, type RunMachineInput } from '../../../machines/run.js';
import { countWavesExecuted, isPaused, type RunSnapshot } from '../../../machines/status.js';
import { OwnBlackboard } from '../session/memory-blackboard.js';
import { Timeline } from '../../common/clock.js';
import {
  errorMessage,
  findCause,
  RUN_TIMEOUT,
  type SkippedTask,
  type TaskFailure,
} from '../../common/errors.js';
import { type Journal, LifecycleEvents } from '../events/journal.js';
import { findCode } from '../invocation/thrown-error.js';
import type { PlacedHistory } from '../history/run-history.js';
import type { MemoryBudget } from '../memory-budget.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import type { PreparedRun } from '../prepare/prepare-run.js';
import {
  type HandlerOutcome,
  type RunArtifact,
  type RunOutcome,
  type RunProgress,
  toHandlerOutcome,
} from '../results.js';
import type { ParentRunContext, RunDependencies } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';
import { BaseRun } from './base-run.js';
import { RunServices } from './run-services.js';
import { RunWork } from './run-work.js';

/** One run of a pipeline in this process: its actor, its work, its journal. */
export class PipelineRun extends BaseRun<RunSnapshot> {
  readonly kind = 'pipeline';
  readonly subPipelines = null;
  readonly prepared: PreparedRun;
  readonly work: RunWork;
  protected readonly lifecycle: LifecycleEvents;
  readonly #services: RunServices;
  /** Undefined for a pipeline without handlers. */
  readonly #handlers: RunHandlers | undefined;
  /** Number of invocations before the handlers; undefined before they begin. */
  #invocations: number | undefined;
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
    const { pipeline } = prepared;
    super(timeline, clock, kept, pipeline.definition.timeout);
    this.prepared = prepared;
    this.#handlers = pipeline.handlers && new RunHandlers(pipeline, clock, timeline, kept);
    this.#services = new RunServices(this, {
      dependencies,
      timeline,
      budget,
      parent,
      history: kept,
      handlers: this.#handlers,
      createNestedRun: (nested, nestedBudget, context, models) =>
        new PipelineRun(nested, { ...dependencies, models }, nestedBudget, context),
    });
    const waves = pipeline.allWaves;
    this.lifecycle = new LifecycleEvents(this.journal, waves, (wave) => pipeline.handlers?.lists[wave]);
    this.work = new RunWork(this.#services, (task) => this.#onWave(task));
    const actor = parent?.actor ?? createActor(runMachine, { input: toMachineInput(prepared) });
    this.start(actor, runPorts, this.work);
    // Nobody else learns of a pause: no wave begins, and nothing was sent to the run.
    if (this.mayPause) actor.subscribe(() => this.#onTransition());
  }

  /** Called when the first task of a wave begins. */
  #onWave({ wave, handlerOf }: Task): void {
    if (handlerOf !== undefined && handlerOf !== this.#handlers?.list) this.#beginHandlers(handlerOf);
    this.lifecycle.beginWave(wave, this);
  }

  #beginHandlers(list: HandlerListName): void {
    this.#invocations ??= this.#services.invocations;
    this.#services.beginHandlers();
    // From now on, the time of the handlers counts.
    this.timeout?.stop();
    this.#handlers?.begin(list, this);
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
      invocations: this.#invocations ?? this.#services.invocations,
    };
  }

  /** The wait of its calls; null when none waits. */
  get waitingFor(): WaitingFor | null {
    return this.#services.waitingFor;
  }

  /** The outputs of the run so far, and how much of it has been executed. */
  get outcome(): RunOutcome {
    return {
      outputs: this.work.outputs,
      waves_executed: countWavesExecuted(this.snapshot),
      tasks_executed: this.#invocations ?? this.#services.invocations,
    };
  }

  get handlerOutcome(): HandlerOutcome | null {
    return toHandlerOutcome(this.#handlers, this.work);
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
    const failed = cause && this.work.getTrace(cause.task_id)?.endedAttempts(cause.item);
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
    // Handlers go on: the end of their run is decided.
    if (!this.isHandling) this.cancelWork(false);
    this.emitStatus();
  }

  protected override beginWork(): void {
    const { handledPlan, actor } = this.#services.parent ?? {};
    if (handledPlan === undefined) super.beginWork();
    else actor?.send(handledPlan.event);
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

  protected override get cancelWork(): (force: boolean) => void {
    return this.#services.cancelWork;
  }

  override stop(): void {
    this.#handlers?.stop();
    super.stop();
  }

  /** Call when the plan that contains this run is stopped: its machine stops the actor. */
  onPlanStopped(): void {
    this.#handlers?.stop();
    this.timeout?.stop();
  }

  protected override onEnd(): void {
    this.#handlers?.stop();
    this.lifecycle.closeWave();
    this.#releaseTemplates();
    this.#services.close();
  }
}

/** Returns the part of a run that its machine is given. */
export function toMachineInput({ pipeline: { waves, handlers }, breakpoints }: PreparedRun): RunMachineInput {
  return { waves, breakpoints, handlers: handlers && toHandlerLists(handlers.waves) };
}

/** The lists that follow each end of the tasks: the matching one first, `finally` last (D80). */
function toHandlerLists(waves: HandlerWaves): HandlerLists {
  const lists = (first: HandlerListName): HandlerLists['failed'] =>
    [waves[first], waves.finally].filter((list) => list.length > 0);
  return {
    succeeded: lists('on_success'),
    failed: lists('on_failure'),
    cancelled: lists('on_cancel'),
  };
}
