import { isSettled, type RunSnapshot, statusOf } from '../../../machines/status.js';
import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import type { TaskFailure } from '../../common/errors.js';
import type { Journal, RunNotes } from '../events/journal.js';
import type { PlanOutcome, RunOutcome, RunProgress, SubPipelineStatuses } from '../results.js';

/** What the machines of pipelines and of plans have in common, as actors. */
interface RunningActor {
  getSnapshot(): Pick<RunSnapshot, 'status' | 'value'>;
  getPersistedSnapshot(): unknown;
  send(event: { readonly type: 'begin' | 'cancel' | 'force' }): void;
  subscribe(observer: { complete(): void; error(fault: unknown): void }): unknown;
  start(): unknown;
  stop(): unknown;
}

/**
 * A run in this process, of a pipeline or of a plan: its actor, when it began and ended, and what those need who keep
 * runs and make records of them.
 */
export abstract class ActorRun {
  readonly createdAt: number;
  startedAt: number | null = null;
  finishedAt: number | null = null;
  /** Fulfilled when nothing of the run is at work any more; never rejects. */
  readonly settled: Promise<void>;
  abstract readonly kind: 'pipeline' | 'plan';
  abstract readonly actor: RunningActor;
  abstract readonly journal: Journal;
  abstract readonly id: string;
  /** Of the pipeline or the plan. */
  abstract readonly definitionId: string;
  abstract readonly tenantId: string;
  /** With params applied. */
  abstract readonly goal: string;
  /** The run that this one repeats; null for a first one (D35). */
  abstract readonly rerunOf: string | null;
  /** What a failed run failed of: the first failure in time (D16); null otherwise. */
  abstract readonly error: string | null;
  /** In the order they happened. */
  abstract readonly failures: readonly TaskFailure[];
  abstract readonly progress: RunProgress;
  /** What has become of each sub-pipeline of a plan, in declared order; null for a pipeline. */
  abstract readonly subPipelines: SubPipelineStatuses | null;
  /** Set only when succeeded. */
  abstract readonly result: RunOutcome | PlanOutcome | null;
  /** What the run keeps in memory, in bytes, roughly. */
  abstract readonly weight: number;
  protected abstract readonly notes: RunNotes;
  /** A bug that ended its actor. */
  protected fault: unknown;
  readonly #clock: Clock;
  #settle: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.createdAt = clock.now();
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get status(): RunStatus {
    return statusOf(this.actor.getSnapshot());
  }

  /** Nothing of it is at work any more. */
  get isSettled(): boolean {
    return isSettled(this.actor.getSnapshot());
  }

  /** Tells those who listen what the run's status is. */
  announce(): void {
    this.notes.status(this);
  }

  /** Begins a queued run. Never rejects. */
  async begin(): Promise<void> {
    this.announce();
    const preparing = this.prepareToBegin();
    // To wait for nothing would take a turn all the same.
    if (preparing !== undefined) await preparing;
    if (this.status !== 'queued' || this.isSettled) return;
    this.startedAt = this.#clock.now();
    this.#send('begin');
  }

  /** Cancels cooperatively; `force` also stops the tools in flight (rule 12, D21). */
  cancel(force: boolean): void {
    this.#send(force ? 'force' : 'cancel');
    this.cancelInside();
  }

  /** Ends the run where it stands, its tools with it. */
  stop(): void {
    this.actor.stop();
  }

  /** The tree of its actors, as JSON. */
  tree(): unknown {
    return this.actor.getPersistedSnapshot();
  }

  /** What is to be waited for while the run is still queued; undefined when nothing is. Never rejects. */
  protected prepareToBegin(): Promise<void> | undefined {
    return undefined;
  }

  /** Cancels what its machine does not know of. */
  protected abstract cancelInside(): void;

  /** Lets go of what it needs no longer. */
  protected close(): void {}

  /** Starts the actor, which has been given its work. */
  protected start(): void {
    // The error observer is the last net: without one, an error of the root actor would end the process.
    this.actor.subscribe({ complete: () => this.#end(undefined), error: (fault) => this.#end(fault) });
    this.actor.start();
  }

  #end(fault: unknown): void {
    this.fault = fault;
    this.finishedAt = this.#clock.now();
    this.close();
    this.announce();
    this.#settle();
  }

  #send(type: 'begin' | 'cancel' | 'force'): void {
    this.actor.send({ type });
    this.announce();
  }
}
