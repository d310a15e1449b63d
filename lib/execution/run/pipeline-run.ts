import { createActor } from 'xstate';
import { runMachine } from '../../../machines/run.js';
import { type RunSnapshot, wavesExecutedIn } from '../../../machines/status.js';
import type { RunActor } from '../../../machines/run.js';
import { bindWork } from '../../../machines/work-binding.js';
import { messageOf, type TaskFailure } from '../../common/errors.js';
import { type Journal, RunNotes } from '../events/journal.js';
import type { PreparedRun, RunSurroundings } from '../prepare/prepared-run.js';
import { outcomeOf, type RunOutcome, type RunProgress } from '../results.js';
import type { RunSetting } from '../run-context.js';
import type { Write } from '../session/given-values.js';
import type { Session } from '../session/session.js';
import { ActorRun } from './base-run.js';
import { RunServices } from './run-services.js';
import { RunWork } from './run-work.js';

/** One run of a pipeline in this process: its actor, its work, its journal. */
export class LocalRun extends ActorRun {
  readonly kind = 'pipeline';
  readonly subPipelines = null;
  readonly prepared: PreparedRun;
  readonly actor: RunActor;
  readonly work: RunWork;
  protected readonly notes: RunNotes;
  readonly #services: RunServices;

  /** @param setting where it stands when it is part of another run */
  constructor(prepared: PreparedRun, surroundings: RunSurroundings, setting?: RunSetting) {
    super(surroundings.clock);
    this.prepared = prepared;
    this.#services = new RunServices(
      prepared,
      surroundings,
      setting,
      (nested, within) => new LocalRun(nested, surroundings, within),
    );
    this.notes = new RunNotes(this.journal, prepared.pipeline.waves);
    this.work = new RunWork(this.#services, prepared, (wave) => this.notes.beginWave(wave, this));
    this.actor = setting?.actor ?? createActor(runMachine, { input: { waves: prepared.pipeline.waves } });
    bindWork(this.actor, this.work);
    this.start();
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

  get wavesExecuted(): number {
    return wavesExecutedIn(this.snapshot);
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
    return this.work.failures[0]?.error ?? `internal error: ${messageOf(this.fault)}`;
  }

  /** What the run keeps in memory, in bytes, roughly: what it was given, and its outputs. */
  get weight(): number {
    return this.prepared.weight + this.#services.budget.usedBytes;
  }

  /** The plan that it is part of was cancelled, and its actor with it. */
  cancelledFromAbove(): void {
    this.cancelInside();
    this.announce();
  }

  /** The blackboard is read before the first wave. When it cannot be read, that wave fails, and so the run. */
  protected override prepareToBegin(): Promise<void> | undefined {
    if (this.prepared.blackboard !== undefined) return this.#open();
    this.session.show();
    return undefined;
  }

  /** The pipelines that its tasks run end with the wave that they are at (rule 12). */
  protected override cancelInside(): void {
    this.#services.nested.cancel();
  }

  protected override close(): void {
    this.notes.closeWave();
    this.session.close();
  }

  async #open(): Promise<void> {
    try {
      await this.session.open(this.prepared.pipeline.definition.reads);
    } catch (thrown) {
      this.work.refusal = `the blackboard cannot be read: ${messageOf(thrown)}`;
    }
  }
}
