import type { FileHandle } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Blackboard } from './session/blackboard.js';
import { OwnBlackboard } from './session/memory-blackboard.js';
import { completeClock, type HostClock } from '../common/clock.js';
import { WavetrainError } from '../common/errors.js';
import { LinkedMap } from '../common/memory/linked-map.js';
import { MAX_NESTED_PIPELINES, MAX_OUTPUT_LENGTH } from '../common/limits.js';
import type { MemoryPool } from '../common/memory/memory-pool.js';
import type { RunSteps } from '../common/scheduling/steps.js';
import { formatMebibytes } from '../common/text.js';
import { type NetworkAccess, networkAccess } from '../tools/fetching/network.js';
import type { SecretSource } from '../definition/secrets/run-secrets.js';
import { withPlaceholders } from '../definition/secrets/sources.js';
import { modelAccess } from '../models/create-models.js';
import type { ModelAccess } from '../models/models.js';
import { fileAccess } from '../tools/files/file-access.js';
import type { FileAccess } from '../tools/tool.js';
import type { LiveEvent } from './events/event.js';
import type { Executor } from './executor.js';
import { type FactLog, type PlacedHistory, RunHistory, type RunPast } from './history/run-history.js';
import { ArtifactStore, type PublishedFile } from './invocation/files/artifact-store.js';
import { type AttemptObserver, guardObserver } from './invocation/attempt-observer.js';
import { DiskCache } from './invocation/cache/disk-cache.js';
import { OutputCache } from './invocation/cache/output-cache.js';
import { MemoryBudget } from './memory-budget.js';
import { PlanRun } from './plan/plan-run.js';
import { type PreparedPlan, preparePlan } from './prepare/prepare-plan.js';
import { createRunId, type PreparedRun, prepareRun, type WithSubmittedKeys } from './prepare/prepare-run.js';
import { canReuse, type PlanRerunSource, type RerunSource } from './prepare/rerun-source.js';
import { type ParseText, StepRunner } from './prepare/step-runner.js';
import { awaitResult, type PlanResult, type RunResult } from './results.js';
import { PipelineRun } from './run/pipeline-run.js';
import type { RunDependencies } from './run-context.js';
import type { PlanInputs, RunInputs } from './prepare/run-inputs.js';

export interface LocalExecutorOptions {
  /** Shared by the runs of this executor (Blackboard, rule 3; D57). Default: one in memory; in a registry, one for each run. */
  readonly blackboard?: Blackboard;
  /** The files that tools may read. Default: those in the working directory. */
  readonly files?: FileAccess;
  /** Sends the requests of tools. Default: to public addresses only (D51). */
  readonly network?: NetworkAccess;
  /** Asks language models for tools. Default: no key is configured; `mock` and `ollama` answer (D50). */
  readonly models?: ModelAccess;
  /** Parses long definitions of pipelines that tasks run. Default: in this process. */
  readonly parseText?: ParseText | undefined;
  readonly clock?: HostClock;
  /** Returns a number from 0 to 1, for the jitter of retry delays. */
  readonly random?: () => number;
  /** Maximum output of one invocation, in bytes. Default 10 MiB. */
  readonly outputLimitBytes?: number;
  /** Maximum memory of what a run makes and keeps, mostly its outputs, in bytes. Default 1 GiB. */
  readonly runOutputLimitBytes?: number;
  /** The memory that all runs share, instead of a limit for each. */
  readonly memory?: MemoryPool;
  /** Maximum number of nested runs of a submitted run at once, at every depth. Default 10,000. */
  readonly maxNestedPipelines?: number;
  /** Folder for a folder of this executor's own, for bytes that tools return (D24). Default: the system's temporary one. */
  readonly artifactFolder?: string;
  /** Folder for the files that tools name (D63), of all runs: the last one of a name stays. Default: the folder of each run. */
  readonly outputFolder?: string;
  /** Keeps the files of a run when it is forgotten, and after `close`. Default: false. */
  readonly keepArtifacts?: boolean;
  /** Folder of the files of runs that go on in another process (D68), instead of one in `artifactFolder`. */
  readonly storedArtifactFolder?: string | undefined;
  /** Folder that keeps the outputs of tasks with `cache` (D65), for other processes too. Default: they are kept in memory. */
  readonly cacheFolder?: string;
  /** Where the secrets of tasks come from (D61). Default: there are none. */
  readonly secrets?: SecretSource | undefined;
  /** Observes every attempt of every run, for traces and metrics. */
  readonly onAttempt?: AttemptObserver;
}

/** A run whose facts are kept for another process, and what has happened of it (D68). */
export interface KeptRun {
  readonly log: FactLog;
  readonly past: RunPast;
}

type AnyPrepared = PreparedRun | PreparedPlan;

/** A run of a pipeline or of a plan. */
export type AnyRun = PipelineRun | PlanRun;

/** Runs pipelines and plans in this process, each run as an XState actor. */
export class LocalExecutor implements Executor {
  /** The values that submitted runs read and write, by tenant (D57). */
  readonly blackboard: Blackboard;
  /** Does long work beside the runs. */
  readonly stepRunner: StepRunner;
  readonly #runs = new LinkedMap<string, AnyRun>();
  /** Undefined when runs of a registry have a blackboard each. */
  readonly #providedBlackboard: Blackboard | undefined;
  /** Undefined when there are none (D61). */
  readonly secrets: SecretSource | undefined;
  readonly #dependencies: RunDependencies;

  constructor(options: LocalExecutorOptions = {}) {
    this.#providedBlackboard = options.blackboard;
    this.blackboard = options.blackboard ?? new OwnBlackboard();
    this.stepRunner = new StepRunner(options.parseText);
    this.secrets = options.secrets;
    this.#dependencies = {
      clock: completeClock(options.clock),
      random: options.random ?? Math.random,
      files: options.files ?? fileAccess([process.cwd()]),
      network: options.network ?? networkAccess(),
      models: options.models ?? modelAccess({}),
      stepRunner: this.stepRunner,
      outputLimitBytes: options.outputLimitBytes ?? MAX_OUTPUT_LENGTH,
      runOutputLimitBytes: options.runOutputLimitBytes ?? 2 ** 30,
      memory: options.memory,
      maxNestedPipelines: options.maxNestedPipelines ?? MAX_NESTED_PIPELINES,
      artifacts: createArtifactStore(options),
      cache: this.#createCache(options),
      onAttempt: options.onAttempt && guardObserver(options.onAttempt),
    };
  }

  #createCache({ clock: host, cacheFolder }: LocalExecutorOptions): OutputCache {
    const clock = completeClock(host);
    if (cacheFolder === undefined) return new OutputCache(clock);
    const runSteps: RunSteps = (steps, tenantId) => this.stepRunner.run(steps, tenantId, 'cache');
    return new OutputCache(clock, new DiskCache(cacheFolder, clock, runSteps));
  }

  /** Returns the run's id at once; it begins when its blackboard is read. @param onEvent receives every event, from the first on */
  async submit(run: RunInputs, onEvent?: (event: LiveEvent) => void): Promise<string> {
    return this.#begin(this.createRun(run, undefined, this.blackboard), onEvent);
  }

  /** Like `submit`, for a plan. */
  async submitPlan(run: PlanInputs, onEvent?: (event: LiveEvent) => void): Promise<string> {
    return this.#begin(this.createPlanRun(run, undefined, this.blackboard), onEvent);
  }

  #begin(run: AnyRun, onEvent: ((event: LiveEvent) => void) | undefined): string {
    if (onEvent) run.journal.subscribe(onEvent);
    void run.begin();
    return run.id;
  }

  /**
   * Creates a run that is queued until its `begin` is called. @param kept where its facts are kept for another process
   * @param blackboard default: the one of the options, or else one of its own
   * @throws WavetrainError `invalid_params`, `invalid_inputs`, `invalid_options`, `secret_missing`, `queue_full`
   */
  createRun(
    inputs: RunInputs & WithSubmittedKeys,
    rerunSource?: RerunSource,
    blackboard: Blackboard | undefined = this.#providedBlackboard,
    kept?: KeptRun,
  ): PipelineRun {
    const id = kept?.past.id ?? createRunId(this.#dependencies.clock.now());
    const prepared = prepareRun(inputs, rerunSource, blackboard, id, this.#secretsFor(kept));
    if (!hasSettled(kept)) this.#assertModels(prepared);
    const budget = this.#admit(prepared, kept);
    const history = kept && this.#openHistory(kept, prepared, budget);
    const run = new PipelineRun(prepared, this.#dependencies, budget, undefined, history);
    this.#runs.add(run.id, run);
    return run;
  }

  /** Like `createRun`, for a plan. Checks the inputs of all sub-pipelines before any of them begins. */
  createPlanRun(
    inputs: PlanInputs & WithSubmittedKeys,
    rerunSource?: PlanRerunSource,
    blackboard: Blackboard | undefined = this.#providedBlackboard,
    kept?: KeptRun,
  ): PlanRun {
    const id = kept?.past.id ?? createRunId(this.#dependencies.clock.now());
    const prepared = preparePlan(inputs, rerunSource, blackboard, id, this.#secretsFor(kept));
    if (!hasSettled(kept)) for (const subRun of prepared.subRuns.values()) this.#assertModels(subRun);
    const budget = this.#admit(prepared, kept);
    const history = kept && this.#openHistory(kept, prepared, budget);
    const run = new PlanRun(prepared, this.#dependencies, budget, history);
    this.#runs.add(run.id, run);
    return run;
  }

  /** Lets secrets be missing for a settled run, which calls no tool. The secrets that there are, are masked. */
  #secretsFor(kept: KeptRun | undefined): SecretSource | undefined {
    return hasSettled(kept) ? withPlaceholders(this.secrets) : this.secrets;
  }

  #openHistory({ log, past }: KeptRun, { id, tenantId }: AnyPrepared, budget: MemoryBudget): PlacedHistory {
    const { clock, artifacts } = this.#dependencies;
    const history = new RunHistory(log, past, tenantId, clock);
    budget.tryReserve(past.facts.endedNestedBytes);
    void history.replayed.then(() => {
      budget.isGranted = false;
    });
    artifacts.restore(id, budget, past.facts.files, (files) => void history.note({ kind: 'files', files }));
    return history.open();
  }

  /** @throws WavetrainError `provider_misconfigured` for a model that a task needs */
  #assertModels({ pipeline, params }: Pick<PreparedRun, 'pipeline' | 'params'>): void {
    for (const { purpose, model, param } of pipeline.contract.models) {
      const named = param === undefined ? model : params[param];
      // A value that is no text fails the task, which checks the type of its input.
      if (param === undefined || (typeof named === 'string' && named !== ''))
        this.#dependencies.models.assertConfigured(purpose, named as string | undefined);
    }
  }

  /** Takes the memory of what a run was given, with the files of the run whose outputs it reuses. */
  #admit(prepared: AnyPrepared, kept: KeptRun | undefined): MemoryBudget {
    const { runOutputLimitBytes, memory, artifacts } = this.#dependencies;
    const { id, tenantId, rerunSource } = prepared;
    const budget = new MemoryBudget(runOutputLimitBytes, memory, tenantId);
    const filesOf = canReuse(rerunSource) ? rerunSource?.runId : undefined;
    const sizeBytes = prepared.sizeBytes + (filesOf === undefined ? 0 : artifacts.bytesOf(filesOf));
    // Before anything is admitted, which may evict the run that has the files.
    if (filesOf !== undefined) artifacts.reuse(filesOf, id, budget);
    if (budget.admit(sizeBytes)) {
      budget.isGranted = kept?.past.isRestored === true;
      return budget;
    }
    artifacts.forget(id);
    throw new WavetrainError(
      'queue_full',
      `the server has no memory left for this run, which takes ${formatMebibytes(sizeBytes)}: ` +
        'try again later, send less, or raise SERVICE_MEMORY',
      { fault: 'service' },
    );
  }

  /** As in the interface. Also rejects with `invalid_request` for the run of a plan. */
  async getResult(runId: string): Promise<RunResult> {
    const run = this.getRun(runId);
    if (run.kind === 'plan') {
      throw new WavetrainError('invalid_request', `run ${runId} belongs to a plan: use getPlanResult`);
    }
    return awaitResult(run);
  }

  /** Waits for the end of a plan's run (D47). Rejects as `getResult`, and with `invalid_request` for the run of a pipeline. */
  async getPlanResult(runId: string): Promise<PlanResult> {
    const run = this.getRun(runId);
    if (run.kind !== 'plan') {
      throw new WavetrainError('invalid_request', `run ${runId} belongs to a pipeline: use getResult`);
    }
    return awaitResult(run);
  }

  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<void> {
    const run = this.getRun(runId);
    const { hasBegun, rebuilding } = run;
    if (hasBegun && rebuilding !== undefined) await rebuilding;
    const force = options.force ?? false;
    const isDraining = run.status === 'cancelled' && !run.isSettled;
    if (run.isSettled || (isDraining && !force)) {
      throw new WavetrainError('run_already_terminal', `run ${runId} ${describeEnd(run)}`);
    }
    run.cancel(force);
  }

  /** Lets a paused run go on, to its next breakpoint or by one wave. @throws WavetrainError `run_not_found` or `run_not_paused` */
  resume(runId: string, by: 'continue' | 'step'): void {
    const run = this.getRun(runId);
    if (!run.isPaused || run.isResuming)
      throw new WavetrainError('run_not_paused', `run ${runId} does not wait at a breakpoint`);
    run.resume(by);
  }

  hasRun(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Returns the run, with its actor and its journal. @throws WavetrainError `run_not_found` */
  getRun(runId: string): AnyRun {
    const run = this.#runs.get(runId);
    if (run === undefined) throw runNotFound(runId);
    return run;
  }

  /** Returns true when the run has files, with bytes that tools returned (D24) or wrote (D63), or may reuse some. */
  hasArtifacts(runId: string): boolean {
    return this.#dependencies.artifacts.hasFiles(runId);
  }

  /** Returns the path of a file of a run, and what is listed of it; undefined when there is no such file (D63). */
  findArtifact(runId: string, name: string): PublishedFile | undefined {
    return this.#dependencies.artifacts.find(runId, name);
  }

  /** Opens a file that {@link findArtifact} has found. Rejects when it is gone, or something else is in its place. */
  openArtifact({ path }: { readonly path: string }): Promise<FileHandle> {
    return this.#dependencies.artifacts.openFile(path);
  }

  /** The files of a run, as they are kept for another process (D68). */
  storedFilesOf(runId: string): readonly PublishedFile[] {
    return this.#dependencies.artifacts.storedFilesOf(runId);
  }

  /**
   * Lists kept files of a run that is not there, for its reruns: they go with the last of these, after `forget` was called.
   * @param earlier a run whose files that run had reused
   */
  restoreFiles(runId: string, files: readonly PublishedFile[], earlier: string | undefined): void {
    const { artifacts } = this.#dependencies;
    const budget = new MemoryBudget(Number.POSITIVE_INFINITY);
    if (earlier !== undefined) artifacts.reuse(earlier, runId, budget);
    artifacts.restore(runId, budget, files, () => undefined);
  }

  /** Removes the files of all runs. Call when nobody needs them any more. */
  async close(): Promise<void> {
    await Promise.all([this.#dependencies.artifacts.close(), this.cacheWritten()]);
  }

  /** Resolves when the outputs that the cache keeps in its folder are there. Never rejects. */
  cacheWritten(): Promise<void> {
    return this.#dependencies.cache.written();
  }

  /** Drops a settled run from memory; its files stay. */
  unload(runId: string): void {
    this.#runs.delete(runId);
    this.#dependencies.artifacts.unload(runId);
  }

  /** Drops a run with its files, and stops it with its tools if it is still at work. */
  forget(runId: string): void {
    this.#runs.get(runId)?.stop();
    this.#runs.delete(runId);
    this.#dependencies.artifacts.forget(runId);
  }
}

function hasSettled(kept: KeptRun | undefined): boolean {
  return kept?.past.facts.settledAt !== undefined;
}

function createArtifactStore(options: LocalExecutorOptions): ArtifactStore {
  const { artifactFolder = tmpdir(), storedArtifactFolder: stored, keepArtifacts = false } = options;
  const name = `wavetrain-${randomUUID()}`;
  return new ArtifactStore(
    stored ?? join(artifactFolder, name),
    keepArtifacts,
    options.outputFolder,
    stored === undefined ? undefined : name,
  );
}

export function runNotFound(runId: string): WavetrainError {
  return new WavetrainError('run_not_found', `there is no run ${runId}`);
}

function describeEnd({ status, isSettled }: AnyRun): string {
  if (!isSettled) return 'is cancelled and finishes its wave; use force to stop it now';
  return status === 'cancelled' ? 'was cancelled' : `has ${status}`;
}
