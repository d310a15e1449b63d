import { isSettled, type RunSnapshot, statusOf } from '../../machines/status.js';
import type { RunStatus } from '../../machines/vocabulary.js';
import type { Clock } from '../clock.js';
import type { TaskFailure } from '../errors.js';
import type { Journal } from './journal.js';
import type { LivingRun, RunProgress, SubPipelineStatuses } from './living-run.js';
import type { PlanOutcome } from './plan-outcome.js';
import type { RunNotes } from './run-notes.js';
import type { RunOutcome } from './run-outcome.js';

/** What the machines of pipelines and of plans have in common, as actors. */
interface RunningActor {
  getSnapshot(): Pick<RunSnapshot, 'status' | 'value'>;
  getPersistedSnapshot(): unknown;
  send(event: { readonly type: 'begin' | 'cancel' | 'force' }): void;
  subscribe(observer: { complete(): void; error(fault: unknown): void }): unknown;
  start(): unknown;
  stop(): unknown;
}

/** A run in this process, of whichever kind: its actor, when it began, and when it ended. */
export abstract class ActorRun implements LivingRun {
  readonly createdAt: number;
  startedAt: number | null = null;
  finishedAt: number | null = null;
  readonly settled: Promise<void>;
  abstract readonly kind: 'pipeline' | 'plan';
  abstract readonly actor: RunningActor;
  abstract readonly journal: Journal;
  abstract readonly id: string;
  abstract readonly definitionId: string;
  abstract readonly tenantId: string;
  abstract readonly goal: string;
  abstract readonly rerunOf: string | null;
  abstract readonly error: string | null;
  abstract readonly failures: readonly TaskFailure[];
  abstract readonly progress: RunProgress;
  abstract readonly subPipelines: SubPipelineStatuses | null;
  abstract readonly result: RunOutcome | PlanOutcome | null;
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

  get isSettled(): boolean {
    return isSettled(this.actor.getSnapshot());
  }

  announce(): void {
    this.notes.status(this);
  }

  async begin(): Promise<void> {
    this.announce();
    const preparing = this.prepareToBegin();
    // To wait for nothing would take a turn all the same.
    if (preparing !== undefined) await preparing;
    if (this.status !== 'queued' || this.isSettled) return;
    this.startedAt = this.#clock.now();
    this.#send('begin');
  }

  cancel(force: boolean): void {
    this.#send(force ? 'force' : 'cancel');
    this.cancelInside();
  }

  stop(): void {
    this.actor.stop();
  }

  tree(): unknown {
    return this.actor.getPersistedSnapshot();
  }

  /** What is to be waited for while the run is still queued; undefined when nothing is. Never rejects. */
  protected abstract prepareToBegin(): Promise<void> | undefined;

  /** Cancels what its machine does not know of. */
  protected abstract cancelInside(): void;

  /** Nothing of it is at work any more. */
  protected abstract close(): void;

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
