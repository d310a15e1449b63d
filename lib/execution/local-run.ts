import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Actor, createActor } from 'xstate';
import { bindWork } from '../../machines/environment.js';
import { type RunEvent, runMachine } from '../../machines/run.js';
import { isSettled, type RunSnapshot, statusOf, wavesExecutedIn } from '../../machines/status.js';
import type { RunStatus } from '../../machines/vocabulary.js';
import { MemoryBlackboard } from '../blackboard/memory.js';
import { messageOf } from '../errors.js';
import type { InvocationServices } from './invocation-services.js';
import { Journal } from './journal.js';
import { OutputBudget } from './output-budget.js';
import type { PreparedRun, RunSurroundings } from './prepared-run.js';
import { RunWork } from './run-work.js';
import { Session } from './session.js';

/** One run in this process: its actor, its work, its journal. */
export class LocalRun {
  readonly prepared: PreparedRun;
  readonly actor: Actor<typeof runMachine>;
  readonly work: RunWork;
  readonly journal: Journal;
  readonly createdAt: number;
  startedAt: number | null = null;
  finishedAt: number | null = null;
  /** Tool invocations started (D20). */
  invocations = 0;
  /** Fulfilled when nothing of the run is at work any more; never rejects. */
  readonly settled: Promise<void>;
  readonly #session: Session;
  readonly #surroundings: RunSurroundings;
  readonly #budget: OutputBudget;
  #noted: RunStatus | undefined;
  #fault: unknown;
  #openWave: number | undefined;
  #artifacts = 0;

  constructor(prepared: PreparedRun, surroundings: RunSurroundings) {
    const { clock } = surroundings;
    this.prepared = prepared;
    this.#surroundings = surroundings;
    this.createdAt = clock.now();
    this.#budget = new OutputBudget(surroundings.runOutputLimitBytes);
    this.journal = new Journal(prepared.id, clock, prepared.collectEvents);
    const blackboard = prepared.blackboard ?? new MemoryBlackboard();
    this.#session = new Session(blackboard, prepared.tenantId, prepared.session);
    this.work = new RunWork(this.#services(), prepared, (wave) => this.#noteWave(wave));
    this.actor = createActor(runMachine, { input: { waves: prepared.pipeline.waves } });
    bindWork(this.actor.system, this.work);
    this.settled = new Promise((resolve) => this.#watch(resolve));
    this.actor.start();
  }

  get id(): string {
    return this.prepared.id;
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

  /** What a failed run failed of: the first failure in time (D16); null otherwise. */
  get error(): string | null {
    if (this.status !== 'failed') return null;
    return this.work.failures[0]?.error ?? `internal error: ${messageOf(this.#fault)}`;
  }

  /** What the run keeps in memory, in bytes, roughly: what it was given, and its outputs. */
  get weight(): number {
    return this.prepared.weight + this.#budget.usedBytes;
  }

  /** Tells those who listen that the run is queued. */
  announce(): void {
    this.#noteStatus();
  }

  /**
   * Reads the blackboard, then starts the first wave, unless the run was cancelled meanwhile. A blackboard that
   * cannot be read fails the tasks of the first wave, and so the run. Never rejects.
   */
  async begin(): Promise<void> {
    this.announce();
    const { blackboard, pipeline } = this.prepared;
    if (blackboard !== undefined) await this.#open(pipeline.definition.reads);
    if (this.status !== 'queued' || this.isSettled) return;
    this.startedAt = this.#surroundings.clock.now();
    this.#send({ type: 'begin' });
  }

  async #open(reads: readonly string[] | undefined): Promise<void> {
    try {
      await this.#session.open(reads);
    } catch (thrown) {
      this.work.refusal = `the blackboard cannot be read: ${messageOf(thrown)}`;
    }
  }

  cancel(force: boolean): void {
    this.#send({ type: force ? 'force' : 'cancel' });
  }

  #send(event: RunEvent): void {
    this.actor.send(event);
    this.#noteStatus();
  }

  // The error observer is the last net: without one, an error of the root actor would end the process.
  #watch(settled: () => void): void {
    const end = (fault?: unknown): void => {
      this.#fault = fault;
      this.finishedAt = this.#surroundings.clock.now();
      this.#closeWave();
      this.#noteStatus();
      settled();
    };
    this.actor.subscribe({ complete: () => end(), error: end });
  }

  #services(): InvocationServices {
    const { clock, random, files, outputLimitBytes, onAttempt } = this.#surroundings;
    return {
      runId: this.prepared.id,
      clock,
      random,
      options: this.prepared.options,
      journal: this.journal,
      session: this.#session,
      memory: new Map(),
      files,
      outputLimitBytes,
      budget: this.#budget,
      onAttempt,
      artifactPath: (taskId) => this.#artifactPath(taskId),
      countInvocation: () => {
        this.invocations++;
      },
    };
  }

  #artifactPath(taskId: string): string {
    const folder = join(this.#surroundings.artifactFolder, this.prepared.id);
    if (this.#artifacts === 0) mkdirSync(folder, { recursive: true });
    return join(folder, `${taskId}-${++this.#artifacts}.bin`);
  }

  #noteWave(wave: number): void {
    if (!this.journal.isRead) return;
    this.#noteStatus();
    this.#closeWave();
    this.#openWave = wave;
    this.journal.write({ kind: 'wave', wave, phase: 'start', tasks: this.#waveSize(wave) });
  }

  #closeWave(): void {
    if (this.#openWave === undefined) return;
    const wave = this.#openWave;
    this.#openWave = undefined;
    this.journal.write({ kind: 'wave', wave, phase: 'finish', tasks: this.#waveSize(wave) });
  }

  #waveSize(wave: number): number {
    return this.prepared.pipeline.waves[wave]?.length ?? 0;
  }

  #noteStatus(): void {
    const { status } = this;
    if (!this.journal.isRead || status === this.#noted) return;
    this.#noted = status;
    const { error } = this;
    this.journal.write({ kind: 'run', status, ...(error === null ? {} : { error }) });
  }
}
