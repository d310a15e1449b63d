import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Blackboard } from '../blackboard/blackboard.js';
import { type Clock, systemClock } from '../common/clock.js';
import { TaskFailedError, WavetrainError } from '../common/errors.js';
import { fileAccess } from '../tools/files/files.js';
import type { FileAccess } from '../tools/tool.js';
import type { LiveEvent, TaskEvent } from './events/event.js';
import type { Executor } from './executor.js';
import { type AttemptObserver, guarded } from './invocation/attempt-observer.js';
import { PlanRun } from './plan/plan-run.js';
import { preparePlan } from './prepare/prepare-plan.js';
import { prepare } from './prepare/prepare.js';
import type { Origin, PlanOrigin, RunSurroundings } from './prepare/prepared-run.js';
import type { PlanResult, RunResult } from './results.js';
import type { PlanInputs, RunInputs } from './run-inputs.js';
import type { ActorRun } from './run/base-run.js';
import { LocalRun } from './run/pipeline-run.js';

export interface LocalExecutorOptions {
  /** Shared by the runs of this executor (Blackboard, rule 3); by default each run has a fresh one. */
  readonly blackboard?: Blackboard;
  /** Where tools may read files. Default: nowhere but the working directory. */
  readonly files?: FileAccess;
  readonly clock?: Clock;
  /** Draws the jitter; a number from 0 to 1. */
  readonly random?: () => number;
  /** Largest output of one invocation, in bytes. Default 10 MiB. */
  readonly outputLimitBytes?: number;
  /** Of all outputs of a run together, as they stand in memory, in bytes. Default 1 GiB. */
  readonly runOutputLimitBytes?: number;
  /** Folder for bytes that tools return. Default: a folder in the system's temporary one. */
  readonly artifactFolder?: string;
  /** Hears of every attempt of every run, for those who measure. */
  readonly onAttempt?: AttemptObserver;
}

/** Runs pipelines in this process, each run an XState actor. */
export class LocalExecutor implements Executor {
  readonly #runs = new Map<string, AnyRun>();
  readonly #blackboard: Blackboard | undefined;
  readonly #surroundings: RunSurroundings;

  constructor(options: LocalExecutorOptions = {}) {
    this.#blackboard = options.blackboard;
    this.#surroundings = {
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      files: options.files ?? fileAccess([process.cwd()]),
      outputLimitBytes: options.outputLimitBytes ?? 10 * 2 ** 20,
      runOutputLimitBytes: options.runOutputLimitBytes ?? 2 ** 30,
      artifactFolder: options.artifactFolder ?? join(tmpdir(), 'wavetrain-artifacts'),
      onAttempt: options.onAttempt && guarded(options.onAttempt),
    };
  }

  /**
   * Answers at once; the run begins when its blackboard was read.
   *
   * @param onEvent hears every event of the run, from the first on
   */
  async submit(run: RunInputs, onEvent?: (event: LiveEvent) => void): Promise<string> {
    return beginning(this.accept(run), onEvent);
  }

  /**
   * A run that is queued until its `begin` is called.
   *
   * @param weigh is told what the run takes in memory, and may throw
   * @param origin an earlier run whose outcomes stand in for calling the tools again
   * @throws WavetrainError `invalid_params`, `invalid_inputs` or `invalid_options`
   */
  accept(run: RunInputs, origin?: Origin, weigh?: (bytes: number) => void): LocalRun {
    const prepared = prepare(run, origin, this.#blackboard, this.#surroundings.clock);
    weigh?.(prepared.weight);
    return this.#keep(new LocalRun(prepared, this.#surroundings));
  }

  /** As `submit`, of a plan. */
  async submitPlan(run: PlanInputs, onEvent?: (event: LiveEvent) => void): Promise<string> {
    return beginning(this.acceptPlan(run), onEvent);
  }

  /** As `accept`, of a plan: none of its sub-pipelines begins before all of them may. */
  acceptPlan(run: PlanInputs, origin?: PlanOrigin, weigh?: (bytes: number) => void): PlanRun {
    const prepared = preparePlan(run, origin, this.#blackboard, this.#surroundings.clock);
    weigh?.(prepared.weight);
    return this.#keep(new PlanRun(prepared, this.#surroundings));
  }

  #keep<R extends AnyRun>(run: R): R {
    this.#runs.set(run.id, run);
    return run;
  }

  /** As the contract says; rejects with `invalid_request` when it is the run of a plan. */
  async getResult(runId: string): Promise<RunResult> {
    const run = this.run(runId);
    if (run.kind === 'plan')
      throw new WavetrainError('invalid_request', `run ${runId} is of a plan: getPlanResult has it`);
    await run.settled;
    return resultOf(run);
  }

  /**
   * Waits until the run of a plan has settled (D47).
   * Rejects with a TaskFailedError (`task_failed`), `run_cancelled`, `run_not_found`, or `invalid_request` when it is
   * the run of a pipeline.
   */
  async getPlanResult(runId: string): Promise<PlanResult> {
    const run = this.run(runId);
    if (run.kind !== 'plan')
      throw new WavetrainError('invalid_request', `run ${runId} is of a pipeline: getResult has it`);
    await run.settled;
    return resultOf(run);
  }

  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<void> {
    const run = this.run(runId);
    const force = options.force ?? false;
    const isDraining = run.status === 'cancelled' && !run.isSettled;
    if (run.isSettled || (isDraining && !force)) {
      throw new WavetrainError('run_already_terminal', `run ${runId} ${endOf(run)}`);
    }
    run.cancel(force);
  }

  /** The living run: its actor for the inspector, its journal for a stream. */
  run(runId: string): AnyRun {
    const run = this.#runs.get(runId);
    if (run === undefined) throw noRun(runId);
    return run;
  }

  /** Drops a run; one that is still at work is stopped, its tools with it. */
  forget(runId: string): void {
    this.#runs.get(runId)?.stop();
    this.#runs.delete(runId);
  }
}

function beginning(run: AnyRun, onEvent: ((event: LiveEvent) => void) | undefined): string {
  if (onEvent) run.journal.listen(onEvent);
  void run.begin();
  return run.id;
}

/** `run_not_found` */
export function noRun(runId: string): WavetrainError {
  return new WavetrainError('run_not_found', `there is no run ${runId}`);
}

function endOf({ status, isSettled }: AnyRun): string {
  if (!isSettled) return 'is cancelled and finishes its wave; only force stops it sooner';
  return status === 'cancelled' ? 'was cancelled' : `has ${status}`;
}

/**
 * The result of a settled run that succeeded, with its events (RunResult, D47).
 *
 * @throws TaskFailedError `task_failed` with the first failure in time, and all of them (D16)
 * @throws WavetrainError `run_cancelled`, or `run_not_found` when it was forgotten while it was waited for
 */
export function resultOf<O extends object>(
  run: Pick<ActorRun, 'id' | 'status' | 'error' | 'failures' | 'journal'> & { readonly result: O | null },
): O & { readonly events: readonly TaskEvent[] | null } {
  const { id, status, result, error, failures, journal } = run;
  if (result !== null) return { ...result, events: journal.events };
  switch (status) {
    case 'cancelled':
      throw new WavetrainError('run_cancelled', `run ${id} was cancelled`);
    case 'failed':
      throw new TaskFailedError(id, failures, error ?? 'failed');
    default:
      throw new WavetrainError('run_not_found', `run ${id} was forgotten before it was over`);
  }
}

/** A run of a pipeline or of a plan. */
export type AnyRun = LocalRun | PlanRun;
