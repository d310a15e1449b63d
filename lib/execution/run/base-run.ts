import { isSettled, type RunSnapshot, toRunStatus } from '../../../machines/status.js';
import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import type { TaskFailure } from '../../common/errors.js';
import type { Journal, LifecycleEvents } from '../events/journal.js';
import type { PlanOutcome, RunOutcome, RunProgress, SubPipelineStatuses } from '../results.js';

/** The interface that the actors of pipelines and of plans share. */
interface RunningActor {
  getSnapshot(): Pick<RunSnapshot, 'status' | 'value'>;
  getPersistedSnapshot(): unknown;
  send(event: { readonly type: 'begin' | 'cancel' | 'force' }): void;
  subscribe(observer: { complete(): void; error(fault: unknown): void }): unknown;
  start(): unknown;
  stop(): unknown;
}

/** A run of a pipeline or of a plan in this process: its actor, its times, and the fields of its record. */
export abstract class BaseRun {
  readonly createdAt: number;
  startedAt: number | null = null;
  finishedAt: number | null = null;
  /** Resolves when nothing of the run is at work any more; never rejects. */
  readonly settled: Promise<void>;
  abstract readonly kind: 'pipeline' | 'plan';
  abstract readonly actor: RunningActor;
  abstract readonly prepared: {
    readonly id: string;
    readonly tenantId: string;
    readonly rerunSource: { readonly runId: string } | undefined;
  };
  abstract readonly journal: Journal;
  /** Id of the pipeline or the plan. */
  abstract readonly definitionId: string;
  /** The rendered goal. */
  abstract readonly goal: string;
  /** The error of a failed run: that of the task that failed first (D16); null otherwise. */
  abstract readonly error: string | null;
  /** In the order in which they happened. */
  abstract readonly failures: readonly TaskFailure[];
  abstract readonly progress: RunProgress;
  /** In declaration order; null for a pipeline. */
  abstract readonly subPipelines: SubPipelineStatuses | null;
  /** Set only when succeeded. */
  abstract readonly result: RunOutcome | PlanOutcome | null;
  /** Approximate memory of the inputs and outputs, in bytes. */
  abstract readonly sizeBytes: number;
  protected abstract readonly lifecycle: LifecycleEvents;
  /** The bug that crashed the actor. */
  protected fault: unknown;
  readonly #clock: Clock;
  #resolveSettled: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.createdAt = clock.now();
    this.settled = new Promise((resolve) => {
      this.#resolveSettled = resolve;
    });
  }

  get id(): string {
    return this.prepared.id;
  }

  get tenantId(): string {
    return this.prepared.tenantId;
  }

  /** Id of the run that this one repeats; null for a first run (D35). */
  get rerunOf(): string | null {
    return this.prepared.rerunSource?.runId ?? null;
  }

  get status(): RunStatus {
    return toRunStatus(this.actor.getSnapshot());
  }

  /** True when nothing of the run is at work any more. */
  get isSettled(): boolean {
    return isSettled(this.actor.getSnapshot());
  }

  /** Begins a queued run. Never rejects. */
  async begin(): Promise<void> {
    this.emitStatus();
    const preparing = this.prepareToBegin();
    // Awaiting undefined would take a tick too.
    if (preparing !== undefined) await preparing;
    if (this.status !== 'queued' || this.isSettled) return;
    this.startedAt = this.#clock.now();
    this.#send('begin');
  }

  /** Cancels cooperatively; `force` also aborts the tools in flight (rule 12, D21). */
  cancel(force: boolean): void {
    this.#send(force ? 'force' : 'cancel');
    this.cancelNestedRuns();
  }

  /** Stops the run at once, with its tools. */
  stop(): void {
    this.actor.stop();
  }

  /** Returns the persisted snapshot of the actor and its children, as JSON. */
  getActorTree(): unknown {
    return this.actor.getPersistedSnapshot();
  }

  /** Prepares a queued run; returns undefined when there is nothing to wait for. Must not reject. */
  protected prepareToBegin(): Promise<void> | undefined {
    return undefined;
  }

  /** Cancels the nested runs, which are not actors of the machine. */
  protected abstract cancelNestedRuns(): void;

  /** Releases what a settled run does not need. */
  protected onEnd(): void {}

  /** Starts the actor, after its ports are bound. */
  protected start(): void {
    // Without an error observer, an error of the root actor would end the process.
    this.actor.subscribe({ complete: () => this.#end(undefined), error: (fault) => this.#end(fault) });
    this.actor.start();
  }

  /** Writes the status event, unless it is the last one written. */
  emitStatus(): void {
    this.lifecycle.writeStatus(this);
  }

  #send(type: 'begin' | 'cancel' | 'force'): void {
    this.actor.send({ type });
    this.emitStatus();
  }

  #end(fault: unknown): void {
    this.fault = fault;
    this.finishedAt = this.#clock.now();
    this.onEnd();
    this.emitStatus();
    this.#resolveSettled();
  }
}
