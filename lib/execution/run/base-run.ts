import type { Keep } from '../../definition/run-fields/keep.js';
import type { ActorRef, AnyMachineSnapshot, InspectionEvent } from 'xstate';
import { RootActor } from '../../../machines/xstate/root-actor.js';
import type { PortBinding } from '../../../machines/ports.js';
import {
  INITIAL_STATUS,
  isHandling,
  isSettled,
  isTimedOut,
  type StatusSnapshot,
  toBegunStatus,
  toRunStatus,
} from '../../../machines/status.js';
import type { RunStatus } from '../../../machines/types.js';
import type { Clock, Timeline } from '../../common/clock.js';
import type { Duration } from '../../common/duration.js';
import type { RunTrigger, StartedBy } from '../../common/wire/started-by.js';
import { type FailedTask, findFailedTask, type TaskFailure } from '../../common/errors.js';
import type { RunFact } from '../history/fact.js';
import { begunKey, RUN_KEY } from '../history/replay.js';
import type { PastFacts } from '../history/past-facts.js';
import { type PlacedHistory, whenAtRest } from '../history/run-history.js';
import type { LiveEvent } from '../events/event.js';
import type { Journal, LifecycleEvents } from '../events/journal.js';
import type { PreparedPlan } from '../prepare/prepare-plan.js';
import type { PreparedRun } from '../prepare/prepare-run.js';
import type { RunGroup } from '../prepare/run-group.js';
import type { MemoryBudget } from '../memory-budget.js';
import { RunTimeout } from './end/run-timeout.js';
import type {
  HandlerOutcome,
  PlanOutcome,
  RunArtifact,
  RunOutcome,
  RunProgress,
  SubPipelineStatuses,
} from '../results.js';

/** The events that runs of pipelines and of plans receive from outside. */
interface ControlEvent {
  readonly type: 'begin' | 'cancel' | 'force' | 'continue' | 'step' | 'timeout';
}

const NO_OP = (): void => {};

/** A run of a pipeline or of a plan in this process: its actor, its times, and the fields of its record. */
export abstract class BaseRun<
  S extends AnyMachineSnapshot & StatusSnapshot = AnyMachineSnapshot & StatusSnapshot,
> {
  readonly createdAt: number;
  startedAt: number | null = null;
  finishedAt: number | null = null;
  /** True from when somebody resumes a paused run until the run goes on: its templates may have to be compiled before. */
  isResuming = false;
  /** Null when a request or a person has started the run, also for a rerun. Set with the next three before the run is seen. */
  trigger: RunTrigger | null = null;
  startedBy: StartedBy = { kind: 'library', name: null };
  /** The definition is one of the folder of the server. */
  isOfFolder = false;
  /** Null without `max_running`. */
  group: RunGroup | null = null;
  /** Resolves when nothing of the run is at work any more; never rejects. */
  readonly settled: Promise<void>;
  abstract readonly kind: 'pipeline' | 'plan';
  abstract readonly prepared: PreparedRun | PreparedPlan;
  abstract readonly journal: Journal;
  /** Id of the pipeline or the plan. */
  abstract readonly definitionId: string;
  /** How long a store keeps the run; undefined when the definition does not say it. */
  abstract readonly keep: Keep | undefined;
  /** Orders the queued runs of a tenant: a higher one goes first (D81). */
  abstract readonly priority: number;
  /** The rendered goal. */
  abstract readonly goal: string;
  /** The error of a failed run: that of the task that failed first (D16); null otherwise. */
  abstract readonly error: string | null;
  /** The code of that error: `run_timeout`, or that of the failure; null when it has none (D81). */
  abstract readonly errorCode: string | null;
  /** The failures of tasks, in the order in which they happened. */
  abstract readonly failures: readonly TaskFailure[];
  abstract readonly progress: RunProgress;
  /** True while the run waits at a breakpoint; for a plan, while one of its sub-pipelines does. */
  abstract readonly isPaused: boolean;
  /** True when the run has breakpoints. */
  abstract readonly mayPause: boolean;
  /** The statuses of the sub-pipelines, in declaration order; null for a pipeline. */
  abstract readonly subPipelines: SubPipelineStatuses | null;
  /** The outcome of a run that has succeeded; null otherwise. */
  abstract readonly result: RunOutcome | PlanOutcome | null;
  /** Null for a definition without handlers (D80). */
  abstract readonly handlerOutcome: HandlerOutcome | null;
  /** The files of the run, in the order of their names. */
  abstract readonly artifacts: readonly RunArtifact[];
  /** The memory of the run; a sub-run shares that of its plan. */
  abstract readonly budget: MemoryBudget;
  protected abstract readonly lifecycle: LifecycleEvents;
  /** The bug that crashed the actor. */
  protected fault: unknown;
  /** The times of the record and of the events. */
  protected readonly timeline: Timeline;
  readonly #history: PlacedHistory | undefined;
  protected readonly timeout: RunTimeout | undefined;
  #resolveSettled = NO_OP;
  #isStopped = false;
  #isEndKept = false;
  /** Resolves when the fact is kept that this process goes on with the run; undefined when it does not. */
  #restored: Promise<void> | undefined;
  readonly #root = new RootActor<S, ControlEvent>();

  /** @param history undefined when nothing of the run is kept for another process */
  constructor(timeline: Timeline, clock: Clock, history: PlacedHistory | undefined, limit?: Duration) {
    this.timeline = timeline;
    this.#history = history;
    this.timeout = RunTimeout.of(limit, clock, timeline, history);
    this.createdAt = history?.isSubmitted === true ? history.run.past.createdAt : timeline.now();
    this.settled = new Promise((resolve) => (this.#resolveSettled = resolve));
  }

  get id(): string {
    return this.prepared.id;
  }

  get tenantId(): string {
    return this.prepared.tenantId;
  }

  get labels(): PreparedRun['labels'] {
    return this.prepared.labels;
  }

  /** Id of the run that this one repeats; null for a first run (D35). */
  get rerunOf(): string | null {
    return this.prepared.rerunSource?.runId ?? null;
  }

  /** The actor of the run; once the run has ended, an actor that has ended with the same snapshot. */
  get actor(): ActorRef<S, ControlEvent> {
    return this.#root.ref;
  }

  /** As {@link RootActor.inspect}. */
  inspect(observer: (event: InspectionEvent) => void): ReturnType<RootActor<S, ControlEvent>['inspect']> {
    return this.#root.inspect(observer);
  }

  /** The status; for a run that is not rebuilt yet, the status that it had. */
  get status(): RunStatus {
    const { machineStatus } = this;
    const past = this.#past;
    if (past?.hasBegun !== true || this.startedAt !== null || this.isSettled) return machineStatus;
    return past.handledStatus('') ?? toBegunStatus(past.isCancelled);
  }

  /** The status that the machine has come to. */
  get machineStatus(): RunStatus {
    return toRunStatus(this.snapshot);
  }

  /** When the run began, in milliseconds since 1970; null when it has not. */
  get begunAt(): number | null {
    return this.startedAt ?? this.#past?.begunAt ?? null;
  }

  get #past(): PastFacts | undefined {
    return this.#history?.isSubmitted === true ? this.#history.run.past.facts : undefined;
  }

  /** The task that failed the run; null unless it has failed, and when no task did. */
  get failedTask(): FailedTask | null {
    if (this.status !== 'failed' || this.timeoutError !== null) return null;
    return findFailedTask(this.failures);
  }

  /** Why the run has failed when its time was over, or that of a sub-pipeline; null otherwise (D81). */
  get timeoutError(): string | null {
    return isTimedOut(this.snapshot) ? (this.timeout?.error ?? null) : null;
  }

  /** True while handlers run: the status does not change any more (D80). */
  get isHandling(): boolean {
    return isHandling(this.snapshot);
  }

  /** True when nothing of the run is at work any more. */
  get isSettled(): boolean {
    return isSettled(this.snapshot);
  }

  /** Begins a queued run, or goes on with one that another process has begun. Never rejects. */
  async begin(): Promise<void> {
    if (this.#history?.isSubmitted === true && this.#history.replay !== undefined) {
      await this.rebuild();
      if (this.hasBegun || this.isSettled) return;
    }
    await this.#prepareAndBegin();
  }

  async #prepareAndBegin(): Promise<void> {
    this.emitStatus();
    const preparing = this.prepareToBegin();
    // Awaiting undefined would take a tick too.
    if (preparing !== undefined) await preparing;
    const replay = this.#history?.replay;
    if (replay === undefined) return this.#begin();
    const key = begunKey(this.#history?.begunPlace ?? '');
    const onFact = (): void => {
      replay.settle(key);
      this.#begin();
    };
    replay.expect(key, { onFact, onEnd: () => this.#begin() });
  }

  #begin(): void {
    if (this.machineStatus !== INITIAL_STATUS || this.isSettled) return;
    this.startedAt = this.#history?.noteBegun() ?? this.timeline.now();
    this.timeout?.begin(this);
    this.beginWork();
  }

  protected beginWork(): void {
    this.#send('begin');
  }

  /** True when another process has begun the run. */
  get hasBegun(): boolean {
    return this.#history?.run.past.facts.hasBegun === true;
  }

  /** True when the run has settled in another process. */
  get wasSettled(): boolean {
    return this.#history?.run.hasSettled === true;
  }

  /** Returns the events that another process has written, once: there may be very many. */
  takePastEvents(): readonly LiveEvent[] {
    return this.#history?.run.past.facts.takeEvents() ?? [];
  }

  /** Rebuilds a run that another process has begun, from its history. Resolves when it goes on, or has ended. */
  async rebuild(): Promise<void> {
    const replay = this.#history?.replay;
    if (replay === undefined) return;
    if (!this.wasSettled) {
      // Once, however often the run is asked to go on in this process.
      this.#restored ??= this.#history?.run.noteRestored();
      await this.#restored;
    }
    replay.expect(RUN_KEY, { onFact: (fact) => this.#replayFact(fact as RunFact), onEnd: NO_OP });
    if (this.hasBegun) void this.#prepareAndBegin();
    else this.emitStatus();
    await replay.over;
    await this.concluded;
    if (this.isPaused) this.park();
  }

  #replayFact(fact: RunFact): void {
    if (fact.kind === 'cancel') this.#cancel(fact.force);
    else if (fact.kind === 'resume') this.#send(fact.by);
  }

  /** Cancels cooperatively; `force` also aborts the tools in flight (rule 12, D21). */
  cancel(force: boolean): void {
    whenAtRest(this.#history, () => {
      if (this.isHandling && !force) return;
      this.#history?.noteRequest({ kind: 'cancel', force });
      this.#cancel(force);
    });
  }

  #cancel(force: boolean): void {
    const { cancelWork } = this;
    this.#send(force ? 'force' : 'cancel');
    cancelWork(force);
  }

  /** Aborts what is at work because the time of the run is over, or that of its handlers. Without handlers, the run fails. */
  timeOut(): void {
    const { cancelWork } = this;
    this.#send('timeout');
    cancelWork(true);
  }

  /** Lets a paused run go on: to its next breakpoint, or by one wave. Does nothing otherwise. */
  resume(by: 'continue' | 'step'): void {
    this.isResuming = true;
    const resume = (): void =>
      whenAtRest(this.#history, () => {
        this.isResuming = false;
        if (!this.isPaused) return;
        this.#history?.noteRequest({ kind: 'resume', by });
        this.#send(by);
      });
    const compiling = this.prepareTemplates();
    if (compiling === undefined) resume();
    else void compiling.then(resume);
  }

  /** Resolves when what follows the last fact of a run has happened; undefined when nothing does. */
  protected get concluded(): Promise<void> | undefined {
    return undefined;
  }

  /** Compiles the templates that the run needs to go on; returns undefined when it may go on at once. Never rejects. */
  abstract prepareTemplates(): Promise<void> | undefined;

  /** Gives back the memory that a run needs only while it works. Call for one that waits: queued, or at a breakpoint. */
  abstract park(): void;

  /** Resolves when the run has come to where another process left it; undefined when it has. */
  get rebuilding(): Promise<void> | undefined {
    return this.#history?.rebuilding;
  }

  /** True while a task is being published: the tasks that wait for it have not gone on yet. */
  get isPublishing(): boolean {
    return this.#history?.run.isPublishing === true;
  }

  /** Resolves when what has happened so far is kept for good. */
  committed(): Promise<void> | undefined {
    return this.#history?.run.committed();
  }

  /** Stops the run at once, with its tools. A run with a history is left as it is, for another process (D68). */
  stop(): void {
    this.#isStopped = true;
    this.timeout?.stop();
    if (this.#history?.isSubmitted === true) this.#leave(this.#history);
    this.#root.stop();
    // The run has ended, and its end could not be kept.
    if (this.finishedAt !== null) this.#resolveSettled();
  }

  #leave(history: PlacedHistory): void {
    const hasEnded = this.finishedAt !== null;
    history.leave(!hasEnded && (this.startedAt !== null || this.#restored !== undefined));
    // The end of the run's tools is no event: the run goes on in another process.
    if (!hasEnded) this.journal.close();
  }

  /** True when the run was stopped before its end was kept: another process may go on with it. */
  get isLeft(): boolean {
    return this.#isStopped && this.#history?.isSubmitted === true && !this.#isEndKept;
  }

  /** Prepares a queued run; returns undefined when there is nothing to wait for. Must not reject. */
  protected prepareToBegin(): Promise<void> | undefined {
    return undefined;
  }

  /** Cancels what is no actor of the machine: the nested runs and waits that are there now, not those of handlers that follow. */
  protected get cancelWork(): (force: boolean) => void {
    return NO_OP;
  }

  /** Releases what a settled run does not need. */
  protected onEnd(): void {}

  protected get snapshot(): S {
    return this.#root.snapshot;
  }

  /** Binds the ports and starts the actor. */
  protected start<P extends object>(
    actor: ActorRef<S, ControlEvent>,
    binding: PortBinding<P>,
    ports: P,
  ): void {
    this.#root.start(actor, binding, ports, (fault) => this.#end(fault));
  }

  /** Writes the status event, unless it is the last one written. */
  emitStatus(): void {
    this.timeout?.update();
    this.lifecycle.writeStatus(this);
  }

  #send(type: ControlEvent['type']): void {
    this.#root.send({ type });
    this.emitStatus();
  }

  #end(fault: unknown): void {
    this.fault = fault;
    this.timeout?.stop();
    this.finishedAt = this.timeline.now();
    this.onEnd();
    this.emitStatus();
    this.journal.close();
    this.budget.trim();
    if (this.#history?.isSubmitted !== true || this.#isStopped) return this.#resolveSettled();
    const { settledAt } = this.#history.run.past.facts;
    this.finishedAt = settledAt ?? this.#history.run.noteSettled();
    void this.#history.run.committed().then(() => {
      this.#isEndKept = true;
      this.#resolveSettled();
    });
  }
}
