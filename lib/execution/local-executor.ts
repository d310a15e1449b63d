import type { RunStatus } from '../../machines/types.js';
import type { FileHandle } from 'node:fs/promises';
import { WavetrainError } from '../common/errors.js';
import { LinkedMap } from '../common/memory/linked-map.js';
import type { SecretSource } from '../definition/secrets/run-secrets.js';
import { withPlaceholders } from '../definition/secrets/sources.js';
import type { LiveEvent } from './events/event.js';
import type { Executor } from './executor.js';
import { createDependencies, type LocalExecutorOptions } from './executor-options.js';
import { foldPipelineRun, foldPlanRun, readShared } from './history/fold/fold-run.js';
import type { FoldedRun } from './history/fold/folded-run.js';
import type { Fact } from './history/fact.js';
import { type FactLog, type PlacedHistory, RunHistory, type RunPast } from './history/run-history.js';
import { ArtifactStore } from './invocation/files/artifact-store.js';
import type { PublishedFile } from './invocation/files/published-file.js';
import { admitRun, MemoryBudget } from './memory-budget.js';
import { PlanRun } from './plan/plan-run.js';
import { assertNeeds } from './prepare/assert-needs.js';
import { listSubRuns, type PreparedPlan, preparePlan } from './prepare/prepare-plan.js';
import { createRunId, type PreparedRun, prepareRun, type WithSubmittedKeys } from './prepare/prepare-run.js';
import { canReuse, type PlanRerunSource, type RerunSource } from './prepare/rerun-source.js';
import type { PlanInputs, RunInputs } from './prepare/run-inputs.js';
import { StepRunner } from './prepare/step-runner.js';
import { awaitResult, type PlanResult, type RunResult } from './results.js';
import type { RunSummary } from '../common/wire/run-summary.js';
import { PipelineRun } from './run/pipeline-run.js';
import type { RunDependencies } from './run-context.js';
import type { Blackboard } from './session/blackboard.js';
import { OwnBlackboard } from './session/memory-blackboard.js';

/** A run whose facts are kept for another process, and what has happened of it (D68). */
export interface KeptRun {
  readonly log: FactLog;
  readonly past: RunPast;
}

type AnyPrepared = PreparedRun | PreparedPlan;

/** A run of a pipeline or of a plan, with its actor. */
export type AnyRun = PipelineRun | PlanRun;

interface PipelineRequest {
  readonly kind: 'pipeline';
  readonly inputs: RunInputs & WithSubmittedKeys;
  readonly source?: RerunSource | undefined;
}

interface PlanRequest {
  readonly kind: 'plan';
  readonly inputs: PlanInputs & WithSubmittedKeys;
  readonly source?: PlanRerunSource | undefined;
}

/** A run that is asked for, and what it can reuse of an earlier one. */
export type ExecutionRequest = PipelineRequest | PlanRequest;

/** A settled run as a store has kept it. */
export interface SettledPast {
  readonly summary: RunSummary;
  /** In order. */
  readonly facts: readonly Fact[];
}

/** Runs pipelines and plans in this process, each run as an XState actor. */
export class LocalExecutor implements Executor {
  /** The values that submitted runs read and write, by tenant (D57). */
  readonly blackboard: Blackboard;
  /** Does long work beside the runs. */
  readonly stepRunner: StepRunner;
  readonly #runs = new LinkedMap<string, AnyRun>();
  /** Ids of the settled runs that are here, or are being folded. */
  readonly #folded = new Set<string>();
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
    this.#dependencies = createDependencies(options, this.stepRunner);
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
    inputs: PipelineRequest['inputs'],
    source?: RerunSource,
    blackboard: Blackboard | undefined = this.#providedBlackboard,
    kept?: KeptRun,
  ): PipelineRun {
    return this.#add(this.#createRun(inputs, source, blackboard, kept));
  }

  /** Like `createRun`, for a plan. Checks the inputs of all sub-pipelines before any of them begins. */
  createPlanRun(
    inputs: PlanRequest['inputs'],
    source?: PlanRerunSource,
    blackboard: Blackboard | undefined = this.#providedBlackboard,
    kept?: KeptRun,
  ): PlanRun {
    return this.#add(this.#createPlanRun(inputs, source, blackboard, kept));
  }

  /** Creates the run of a request, as `createRun` and `createPlanRun` do. */
  create(request: ExecutionRequest, kept?: KeptRun): AnyRun {
    return this.#add(this.recreate(request, kept));
  }

  /** Creates a run like `create` that only the caller finds: the actor of a settled run again. */
  recreate(request: ExecutionRequest, kept: KeptRun | undefined): AnyRun {
    return request.kind === 'plan'
      ? this.#createPlanRun(request.inputs, request.source, this.#providedBlackboard, kept)
      : this.#createRun(request.inputs, request.source, this.#providedBlackboard, kept);
  }

  #add<R extends AnyRun>(run: R): R {
    this.#runs.add(run.id, run);
    return run;
  }

  #createRun(
    inputs: PipelineRequest['inputs'],
    source: RerunSource | undefined,
    blackboard: Blackboard | undefined,
    kept: KeptRun | undefined,
  ): PipelineRun {
    const id = kept?.past.id ?? createRunId(this.#dependencies.clock.now());
    const prepared = prepareRun(inputs, source, blackboard, id, this.#secretsFor(kept));
    if (!hasSettled(kept)) assertNeeds(prepared, this.#dependencies);
    const budget = this.#admit(prepared, kept?.past.isRestored);
    const history = kept && this.#openHistory(kept, prepared, budget);
    return new PipelineRun(prepared, this.#dependencies, budget, undefined, history);
  }

  #createPlanRun(
    inputs: PlanRequest['inputs'],
    source: PlanRerunSource | undefined,
    blackboard: Blackboard | undefined,
    kept: KeptRun | undefined,
  ): PlanRun {
    const id = kept?.past.id ?? createRunId(this.#dependencies.clock.now());
    const prepared = preparePlan(inputs, source, blackboard, id, this.#secretsFor(kept));
    if (!hasSettled(kept))
      for (const subRun of listSubRuns(prepared)) assertNeeds(subRun, this.#dependencies);
    const budget = this.#admit(prepared, kept?.past.isRestored);
    const history = kept && this.#openHistory(kept, prepared, budget);
    return new PlanRun(prepared, this.#dependencies, budget, history);
  }

  /** Prepares a settled run as it was accepted. Its secrets may not be there any more. Throws as `createRun`. */
  prepareSettled(request: ExecutionRequest, id: string): AnyPrepared {
    const secrets = withPlaceholders(this.secrets);
    const blackboard = this.#providedBlackboard;
    return request.kind === 'plan'
      ? preparePlan(request.inputs, request.source, blackboard, id, secrets)
      : prepareRun(request.inputs, request.source, blackboard, id, secrets);
  }

  /** Shows a settled run from its facts, without actors (D74). Rejects with `queue_full` when there is no memory for it. */
  async fold(prepared: AnyPrepared, past: SettledPast): Promise<FoldedRun> {
    const { id } = prepared;
    const budget = this.#admit(prepared, true);
    this.#folded.add(id);
    try {
      return await this.#fold(prepared, past, budget, this.#dependencies.artifacts);
    } catch (error) {
      this.unload(id);
      throw error;
    }
  }

  /** Like `fold`, from some facts of a run. Only the caller finds it, and it has no files. */
  async foldPart(prepared: AnyPrepared, past: SettledPast): Promise<FoldedRun> {
    const { runOutputLimitBytes, memory } = this.#dependencies;
    const budget = new MemoryBudget(runOutputLimitBytes, memory, prepared.tenantId);
    return this.#fold(
      prepared,
      past,
      admitRun(budget, prepared.sizeBytes, true),
      new ArtifactStore('', true),
    );
  }

  async #fold(
    prepared: AnyPrepared,
    { summary, facts }: SettledPast,
    budget: MemoryBudget,
    artifacts: ArtifactStore,
  ): Promise<FoldedRun> {
    try {
      const context = { ...this.#dependencies, summary, facts, budget, artifacts };
      const steps =
        'plan' in prepared
          ? foldPlanRun(prepared, context, await readShared(prepared))
          : foldPipelineRun(prepared, context);
      return await this.stepRunner.run<FoldedRun>(steps, prepared.tenantId);
    } catch (error) {
      budget.close();
      throw error;
    } finally {
      budget.isGranted = false;
      budget.trim();
    }
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

  /** Takes the memory of what a run was given, with the files of the run whose outputs it reuses. */
  #admit(prepared: AnyPrepared, isRestored = false): MemoryBudget {
    const { runOutputLimitBytes, memory, artifacts, largeFiles } = this.#dependencies;
    const { id, tenantId, rerunSource } = prepared;
    const budget = new MemoryBudget(runOutputLimitBytes, memory, tenantId, largeFiles);
    const filesOf = canReuse(rerunSource) ? rerunSource?.runId : undefined;
    const sizeBytes = prepared.sizeBytes + (filesOf === undefined ? 0 : artifacts.bytesOf(filesOf));
    // Before anything is admitted, which may evict the run that has the files.
    if (filesOf !== undefined) artifacts.reuse(filesOf, id, budget);
    try {
      return admitRun(budget, sizeBytes, isRestored);
    } catch (error) {
      artifacts.forget(id);
      throw error;
    }
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
    const isEnding = run.status !== 'queued' && run.status !== 'running';
    if (run.isSettled || (isEnding && !force)) throw alreadyTerminal(run);
    run.cancel(force);
  }

  /** Lets a paused run go on, to its next breakpoint or by one wave. @throws WavetrainError `run_not_found` or `run_not_paused` */
  resume(runId: string, by: 'continue' | 'step'): void {
    const run = this.getRun(runId);
    if (!run.isPaused || run.isResuming) throw notPaused(run);
    run.resume(by);
  }

  hasRun(runId: string): boolean {
    return this.#runs.has(runId) || this.#folded.has(runId);
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
    this.#folded.delete(runId);
    this.#dependencies.artifacts.unload(runId);
  }

  /** Drops a run with its files, and stops it with its tools if it is still at work. */
  forget(runId: string): void {
    this.#runs.get(runId)?.stop();
    this.#runs.delete(runId);
    this.#folded.delete(runId);
    this.#dependencies.artifacts.forget(runId);
  }
}

function hasSettled(kept: KeptRun | undefined): boolean {
  return kept?.past.facts.settledAt !== undefined;
}

export function runNotFound(runId: string): WavetrainError {
  return new WavetrainError('run_not_found', `there is no run ${runId}`);
}

/** The error of a cancel that comes too late. */
export function alreadyTerminal(run: AnyRun | FoldedRun): WavetrainError {
  return new WavetrainError('run_already_terminal', `run ${run.id} ${describeEnd(run)}`);
}

const END_WORDS: Partial<Record<RunStatus, string>> = {
  succeeded: 'has succeeded',
  failed: 'has failed',
  cancelled: 'was cancelled',
};

function describeEnd({ status, isSettled, isHandling }: AnyRun | FoldedRun): string {
  if (isHandling) return `${END_WORDS[status] ?? status} and its handlers run; use force to stop them now`;
  if (!isSettled) return 'is cancelled and finishes its wave; use force to stop it now';
  return END_WORDS[status] ?? status;
}

export function notPaused({ id }: AnyRun | FoldedRun): WavetrainError {
  return new WavetrainError('run_not_paused', `run ${id} does not wait at a breakpoint`);
}
