import { createActor } from 'xstate';
import { runPorts } from '../../../machines/ports.js';
import { type RunActor, runMachine } from '../../../machines/run.js';
import { countWavesExecuted } from '../../../machines/status.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import { type Journal, LifecycleEvents } from '../events/journal.js';
import type { PreparedRun } from '../prepare/prepare-run.js';
import type { RunOutcome, RunProgress } from '../results.js';
import type { ParentRunContext, RunDependencies } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';
import { BaseRun } from './base-run.js';
import { RunServices } from './run-services.js';
import { RunWork } from './run-work.js';

/** One run of a pipeline in this process: its actor, its work, its journal. */
export class PipelineRun extends BaseRun {
  readonly kind = 'pipeline';
  readonly subPipelines = null;
  readonly prepared: PreparedRun;
  readonly actor: RunActor;
  readonly work: RunWork;
  protected readonly lifecycle: LifecycleEvents;
  readonly #services: RunServices;

  /** @param parent set for a sub-run or a nested run */
  constructor(prepared: PreparedRun, dependencies: RunDependencies, parent?: ParentRunContext) {
    super(dependencies.clock);
    this.prepared = prepared;
    this.#services = new RunServices(
      prepared,
      dependencies,
      parent,
      (nested, context) => new PipelineRun(nested, dependencies, context),
    );
    this.lifecycle = new LifecycleEvents(this.journal, prepared.pipeline.waves);
    this.work = new RunWork(this.#services, prepared, (wave) => this.lifecycle.beginWave(wave, this));
    this.actor = parent?.actor ?? createActor(runMachine, { input: { waves: prepared.pipeline.waves } });
    runPorts.bind(this.actor, this.work);
    this.start();
  }

  get definitionId(): string {
    return this.prepared.pipeline.definition.id;
  }

  get goal(): string {
    return this.prepared.goal;
  }

  get journal(): Journal {
    return this.#services.journal;
  }

  /** The blackboard writes of its succeeded tasks, in order. */
  get writes(): readonly Write[] {
    return this.work.writes;
  }

  get failures(): readonly TaskFailure[] {
    return this.work.failures;
  }

  get progress(): RunProgress {
    const { waves, tasks } = this.prepared.pipeline;
    return {
      waves: waves.length,
      waves_executed: countWavesExecuted(this.actor.getSnapshot()),
      tasks: tasks.size,
      tasks_settled: this.work.tasksSettled,
      invocations: this.#services.invocations,
    };
  }

  /** What the run has produced so far. */
  get outcome(): RunOutcome {
    return {
      outputs: this.work.outputs,
      waves_executed: countWavesExecuted(this.actor.getSnapshot()),
      tasks_executed: this.#services.invocations,
    };
  }

  get result(): RunOutcome | null {
    return this.status === 'succeeded' ? this.outcome : null;
  }

  get error(): string | null {
    if (this.status !== 'failed') return null;
    return this.failures[0]?.error ?? `internal error: ${errorMessage(this.fault)}`;
  }

  get sizeBytes(): number {
    return this.prepared.sizeBytes + this.#services.budget.usedBytes;
  }

  /** Called when the plan that contains this run is cancelled; the plan's machine has cancelled its actor already. */
  onPlanCancelled(): void {
    this.cancelNestedRuns();
    this.emitStatus();
  }

  /** Reads the blackboard. When that fails, the first wave fails with the reason. */
  protected override prepareToBegin(): Promise<void> | undefined {
    const { session } = this.#services;
    if (this.prepared.blackboard === undefined) {
      session.showOverrides();
      return undefined;
    }
    return session.readBlackboard(this.prepared.pipeline.definition.reads).catch((thrown: unknown) => {
      this.work.startError = `the blackboard cannot be read: ${errorMessage(thrown)}`;
    });
  }

  /** Nested runs end with their current wave (rule 12). */
  protected override cancelNestedRuns(): void {
    this.#services.nestedRuns.cancel();
  }

  protected override onEnd(): void {
    this.lifecycle.closeWave();
    this.#services.session.close();
  }
}
