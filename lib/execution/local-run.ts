import { createActor } from 'xstate';
import { bindWork } from '../../machines/environment.js';
import type { RunActor } from '../../machines/plan-work.js';
import { type RunEvent, runMachine } from '../../machines/run.js';
import { isSettled, type RunSnapshot, statusOf, wavesExecutedIn } from '../../machines/status.js';
import type { RunStatus } from '../../machines/vocabulary.js';
import { messageOf, type TaskFailure } from '../errors.js';
import type { Journal } from './journal.js';
import type { LivingRun, RunProgress } from './living-run.js';
import type { PreparedRun, RunSurroundings } from './prepared-run.js';
import { outcomeOf, type RunOutcome } from './run-outcome.js';
import type { RunPlace } from './run-place.js';
import { RunNotes } from './run-notes.js';
import { RunServices } from './run-services.js';
import { RunWork } from './run-work.js';
import type { Session, Write } from './session.js';

/** One run in this process: its actor, its work, its journal. */
export class LocalRun implements LivingRun {
  readonly kind = 'pipeline';
  readonly subPipelines = null;
  readonly prepared: PreparedRun;
  readonly actor: RunActor;
  readonly work: RunWork;
  readonly createdAt: number;
  startedAt: number | null = null;
  finishedAt: number | null = null;
  /** Fulfilled when nothing of the run is at work any more; never rejects. */
  readonly settled: Promise<void>;
  readonly #surroundings: RunSurroundings;
  readonly #services: RunServices;
  readonly #notes: RunNotes;
  #fault: unknown;

  /** @param place where it stands when it is part of another run */
  constructor(prepared: PreparedRun, surroundings: RunSurroundings, place?: RunPlace) {
    this.prepared = prepared;
    this.#surroundings = surroundings;
    this.createdAt = surroundings.clock.now();
    this.#services = new RunServices(
      prepared,
      surroundings,
      place,
      (nested, within) => new LocalRun(nested, surroundings, within),
    );
    this.#notes = new RunNotes(this.journal, prepared.pipeline.waves);
    this.work = new RunWork(this.#services, prepared, (wave) => this.#notes.beginWave(wave, this));
    this.actor = place?.actor ?? createActor(runMachine, { input: { waves: prepared.pipeline.waves } });
    bindWork(this.actor, this.work);
    this.settled = new Promise((resolve) => this.#watch(resolve));
    this.actor.start();
  }

  get id(): string {
    return this.prepared.id;
  }

  get definitionId(): string {
    return this.prepared.pipeline.definition.id;
  }

  get tenantId(): string {
    return this.prepared.tenantId;
  }

  get goal(): string {
    return this.prepared.goal;
  }

  get rerunOf(): string | null {
    return this.prepared.origin?.runId ?? null;
  }

  get journal(): Journal {
    return this.#services.journal;
  }

  get session(): Session {
    return this.#services.session;
  }

  /** Tool invocations started (D20). */
  get invocations(): number {
    return this.#services.invocations;
  }

  /** What its tasks have put on the blackboard, in order. */
  get writes(): readonly Write[] {
    return this.work.writes;
  }

  get snapshot(): RunSnapshot {
    return this.actor.getSnapshot();
  }

  get status(): RunStatus {
    return statusOf(this.snapshot);
  }

  get wavesExecuted(): number {
    return wavesExecutedIn(this.snapshot);
  }

  get isSettled(): boolean {
    return isSettled(this.snapshot);
  }

  get failures(): readonly TaskFailure[] {
    return this.work.failures;
  }

  get progress(): RunProgress {
    const { waves, tasks } = this.prepared.pipeline;
    return {
      waves: waves.length,
      waves_executed: this.wavesExecuted,
      tasks: tasks.size,
      tasks_settled: this.work.tasksSettled,
      invocations: this.invocations,
    };
  }

  get result(): RunOutcome | null {
    return this.status === 'succeeded' ? outcomeOf(this) : null;
  }

  /** What a failed run failed of: the first failure in time (D16); null otherwise. */
  get error(): string | null {
    if (this.status !== 'failed') return null;
    return this.work.failures[0]?.error ?? `internal error: ${messageOf(this.#fault)}`;
  }

  /** What the run keeps in memory, in bytes, roughly: what it was given, and its outputs. */
  get weight(): number {
    return this.prepared.weight + this.#services.budget.usedBytes;
  }

  /** Tells those who listen that the run is queued. */
  announce(): void {
    this.#notes.status(this);
  }

  /**
   * Reads the blackboard, then starts the first wave, unless the run was cancelled meanwhile. A blackboard that
   * cannot be read fails the tasks of the first wave, and so the run. Never rejects.
   */
  async begin(): Promise<void> {
    this.announce();
    if (this.prepared.blackboard !== undefined) await this.#open();
    if (this.status !== 'queued' || this.isSettled) return;
    this.startedAt = this.#surroundings.clock.now();
    this.#send({ type: 'begin' });
  }

  async #open(): Promise<void> {
    const { definition, contract } = this.prepared.pipeline;
    try {
      await this.session.open(definition.reads, contract);
    } catch (thrown) {
      this.work.refusal = `the blackboard cannot be read: ${messageOf(thrown)}`;
    }
  }

  cancel(force: boolean): void {
    this.#send({ type: force ? 'force' : 'cancel' });
    this.cancelNested();
  }

  /** The pipelines that its tasks run end with the wave that they are at (rule 12). */
  cancelNested(): void {
    this.#services.nested.cancel();
  }

  stop(): void {
    this.actor.stop();
  }

  tree(): unknown {
    return this.actor.getPersistedSnapshot();
  }

  #send(event: RunEvent): void {
    this.actor.send(event);
    this.announce();
  }

  // The error observer is the last net: without one, an error of the root actor would end the process.
  #watch(settled: () => void): void {
    const end = (fault?: unknown): void => {
      this.#fault = fault;
      this.finishedAt = this.#surroundings.clock.now();
      this.#notes.closeWave();
      this.session.close();
      this.announce();
      settled();
    };
    this.actor.subscribe({ complete: () => end(), error: end });
  }
}
