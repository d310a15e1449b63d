import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Blackboard } from '../blackboard/blackboard.js';
import { type Clock, systemClock } from '../common/clock.js';
import { createRunError, WavetrainError } from '../common/errors.js';
import { MAX_NESTED_PIPELINES } from '../common/limits.js';
import { fileAccess } from '../tools/files/file-access.js';
import type { FileAccess } from '../tools/tool.js';
import type { LiveEvent, TaskEvent } from './events/event.js';
import type { Executor } from './executor.js';
import { type AttemptObserver, guardObserver } from './invocation/attempt-observer.js';
import { PlanRun } from './plan/plan-run.js';
import { preparePlan } from './prepare/prepare-plan.js';
import { type PlanRerunSource, prepareRun, type RerunSource } from './prepare/prepare-run.js';
import type { PlanResult, RunResult } from './results.js';
import { PipelineRun } from './run/pipeline-run.js';
import type { RunDependencies } from './run-context.js';
import type { PlanInputs, RunInputs } from './run-inputs.js';

export interface LocalExecutorOptions {
  /** Shared by the runs of this executor (Blackboard, rule 3). Default: each run creates its own. */
  readonly blackboard?: Blackboard;
  /** The files that tools may read. Default: those in the working directory. */
  readonly files?: FileAccess;
  readonly clock?: Clock;
  /** Returns a number from 0 to 1, for the jitter of retry delays. */
  readonly random?: () => number;
  /** Maximum output of one invocation, in bytes. Default 10 MiB. */
  readonly outputLimitBytes?: number;
  /** Maximum memory of all outputs of a run, in bytes. Default 1 GiB. */
  readonly runOutputLimitBytes?: number;
  /** Maximum number of nested runs of a submitted run at once, at every depth. Default 10,000. */
  readonly maxNestedPipelines?: number;
  /** Folder for bytes that tools return. Default: `wavetrain-artifacts` in the system's temporary folder. */
  readonly artifactFolder?: string;
  /** Observes every attempt of every run, for traces and metrics. */
  readonly onAttempt?: AttemptObserver;
}

/** A run of a pipeline or of a plan. */
export type AnyRun = PipelineRun | PlanRun;

/** Runs pipelines and plans in this process, each run as an XState actor. */
export class LocalExecutor implements Executor {
  readonly #runs = new Map<string, AnyRun>();
  readonly #blackboard: Blackboard | undefined;
  readonly #dependencies: RunDependencies;

  constructor(options: LocalExecutorOptions = {}) {
    this.#blackboard = options.blackboard;
    this.#dependencies = {
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      files: options.files ?? fileAccess([process.cwd()]),
      outputLimitBytes: options.outputLimitBytes ?? 10 * 2 ** 20,
      runOutputLimitBytes: options.runOutputLimitBytes ?? 2 ** 30,
      maxNestedPipelines: options.maxNestedPipelines ?? MAX_NESTED_PIPELINES,
      artifactFolder: options.artifactFolder ?? join(tmpdir(), 'wavetrain-artifacts'),
      onAttempt: options.onAttempt && guardObserver(options.onAttempt),
    };
  }

  /**
   * Returns the run's id immediately; the run begins when its blackboard has been read.
   *
   * @param onEvent receives every event of the run, from the first on
   */
  async submit(run: RunInputs, onEvent?: (event: LiveEvent) => void): Promise<string> {
    return this.#begin(this.createRun(run), onEvent);
  }

  /** Like `submit`, for a plan. */
  async submitPlan(run: PlanInputs, onEvent?: (event: LiveEvent) => void): Promise<string> {
    return this.#begin(this.createPlanRun(run), onEvent);
  }

  #begin(run: AnyRun, onEvent: ((event: LiveEvent) => void) | undefined): string {
    if (onEvent) run.journal.subscribe(onEvent);
    void run.begin();
    return run.id;
  }

  /**
   * Creates a run that is queued until its `begin` is called.
   *
   * @param rerunSource an earlier run whose outcomes the run reuses
   * @param checkMemory receives the memory that the run takes, in bytes; may throw to reject the run
   * @throws WavetrainError `invalid_params`, `invalid_inputs` or `invalid_options`
   */
  createRun(
    inputs: RunInputs,
    rerunSource?: RerunSource,
    checkMemory?: (bytes: number) => void,
  ): PipelineRun {
    const prepared = prepareRun(inputs, rerunSource, this.#blackboard, this.#dependencies.clock);
    checkMemory?.(prepared.sizeBytes);
    const run = new PipelineRun(prepared, this.#dependencies);
    this.#runs.set(run.id, run);
    return run;
  }

  /** Like `createRun`, for a plan. Checks the inputs of all sub-pipelines before any of them begins. */
  createPlanRun(
    inputs: PlanInputs,
    rerunSource?: PlanRerunSource,
    checkMemory?: (bytes: number) => void,
  ): PlanRun {
    const prepared = preparePlan(inputs, rerunSource, this.#blackboard, this.#dependencies.clock);
    checkMemory?.(prepared.sizeBytes);
    const run = new PlanRun(prepared, this.#dependencies);
    this.#runs.set(run.id, run);
    return run;
  }

  /** As in the interface. Also rejects with `invalid_request` for the run of a plan. */
  async getResult(runId: string): Promise<RunResult> {
    const run = this.getRun(runId);
    if (run.kind === 'plan') {
      throw new WavetrainError('invalid_request', `run ${runId} belongs to a plan: use getPlanResult`);
    }
    return awaitResult(run);
  }

  /**
   * Waits until the run of a plan has settled (D47).
   * Rejects with a TaskFailedError (`task_failed`), `run_cancelled`, `run_not_found`, or `invalid_request` for the run
   * of a pipeline.
   */
  async getPlanResult(runId: string): Promise<PlanResult> {
    const run = this.getRun(runId);
    if (run.kind !== 'plan') {
      throw new WavetrainError('invalid_request', `run ${runId} belongs to a pipeline: use getResult`);
    }
    return awaitResult(run);
  }

  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<void> {
    const run = this.getRun(runId);
    const force = options.force ?? false;
    const isDraining = run.status === 'cancelled' && !run.isSettled;
    if (run.isSettled || (isDraining && !force)) {
      throw new WavetrainError('run_already_terminal', `run ${runId} ${describeEnd(run)}`);
    }
    run.cancel(force);
  }

  /**
   * Returns the run, with its actor and its journal.
   *
   * @throws WavetrainError `run_not_found`
   */
  getRun(runId: string): AnyRun {
    const run = this.#runs.get(runId);
    if (run === undefined) throw runNotFound(runId);
    return run;
  }

  /** Drops a run, and stops it with its tools if it is still at work. */
  forget(runId: string): void {
    this.#runs.get(runId)?.stop();
    this.#runs.delete(runId);
  }
}

export function runNotFound(runId: string): WavetrainError {
  return new WavetrainError('run_not_found', `there is no run ${runId}`);
}

function describeEnd({ status, isSettled }: AnyRun): string {
  if (!isSettled) return 'is cancelled and finishes its wave; use force to stop it now';
  return status === 'cancelled' ? 'was cancelled' : `has ${status}`;
}

/**
 * Resolves with the result of a run and its events when the run has settled (RunResult, D47). Rejects with a
 * TaskFailedError (`task_failed`, D16), with `run_cancelled`, or with `run_not_found` when the run was forgotten before
 * it settled.
 */
async function awaitResult<O extends object>(
  run: Pick<AnyRun, 'id' | 'status' | 'error' | 'failures' | 'journal' | 'settled'> & {
    readonly result: O | null;
  },
): Promise<O & { readonly events: readonly TaskEvent[] | null }> {
  await run.settled;
  const { id, status, result, journal } = run;
  if (result !== null) return { ...result, events: journal.events };
  if (status === 'cancelled' || status === 'failed') throw createRunError(id, run);
  throw new WavetrainError('run_not_found', `run ${id} was forgotten before it had settled`);
}
