import { INITIAL_STATUS } from '../../machines/status.js';
import { type Clock, completeClock } from '../common/clock.js';
import { alreadyTerminal, type AnyRun, LocalExecutor, notPaused } from '../execution/local-executor.js';
import { freezeInSteps, hasLongValues, readTenantId } from '../execution/prepare/prepare-run.js';
import type { StepRunner } from '../execution/prepare/step-runner.js';
import type { PlanInputs, RunInputs } from '../execution/prepare/run-inputs.js';
import { Admission, UNLIMITED_ADMISSION } from './queue/admission.js';
import {
  type IdempotencyKey,
  IdempotencyStore,
  type OnceAcceptedRun,
  type Reservation,
} from './idempotency.js';
import { ConcurrencyGroups } from './queue/concurrency-groups.js';
import { MissingRunFiles } from './rerun/missing-run-files.js';
import { ArchivedRuns } from './store/archived-runs.js';
import { Restoration, type RestoredRuns } from './store/restore/restoration.js';
import { type ReviveDefinition, StoredRunReader } from './store/restore/stored-run-reader.js';
import type { RunArchive } from './store/run-archive.js';
import { type CreatedRun, type RequestedRun, RunFactory } from './run-factory.js';
import { type RunRecord, toRunRecord } from './record.js';
import { type RemovedRuns, removePage } from './remove-page.js';
import type { RegistryOptions, SubmissionOptions } from './registry-options.js';
import { assertSettled, prepareRerun, type RerunRequest } from './rerun/rerun.js';
import { type EvictionReason, Retention, UNLIMITED_RETENTION } from './retention.js';
import { LiveRunEntry, type RunEntry } from './run-entry.js';
import type { RunStore } from './store/run-store.js';
import { StoreGuard } from './store/store-guard.js';
import { assertNotLeft, leftToNextProcess, RunIndex } from './views/run-index.js';
import { RunQueries } from './views/run-queries.js';
import type { RunQuery } from './views/run-query.js';

/** The commands on runs. With its queries, it is the only entry point to runs for the command line and the HTTP API (law L2). */
export class RunRegistry {
  readonly queries: RunQueries;
  /** Checks definitions beside the runs, so that neither holds the event loop for long. */
  readonly stepRunner: StepRunner;
  readonly #options: RegistryOptions;
  readonly #clock: Clock;
  readonly #executor: LocalExecutor;
  readonly #admission: Admission;
  readonly #runs: RunIndex;
  readonly #idempotencyKeys: IdempotencyStore;
  readonly #factory: RunFactory;
  readonly #retention: Retention<RunEntry>;
  readonly #storeGuard: StoreGuard;
  /** The settled runs of the store; undefined when they are in memory. */
  readonly #archived: ArchivedRuns | undefined;
  /** Resolves when the runs of the store have been restored, or cannot be; undefined then, and before. */
  #restoring: Promise<void> | undefined;
  /** Undefined without a store, and until its runs are listed. */
  #restoration: Restoration | undefined;
  #isClosing = false;

  // The library documents these queries as methods of the registry.
  readonly record: RunQueries['record'] = (runId) => this.queries.record(runId);
  readonly settled: RunQueries['settled'] = (runId) => this.queries.settled(runId);
  readonly list: RunQueries['list'] = (query) => this.queries.list(query);
  readonly tasks: RunQueries['tasks'] = (runId, query) => this.queries.tasks(runId, query);
  readonly task: RunQueries['task'] = (...call) => this.queries.task(...call);
  readonly items: RunQueries['items'] = (...call) => this.queries.items(...call);
  readonly item: RunQueries['item'] = (...call) => this.queries.item(...call);
  readonly artifacts: RunQueries['artifacts'] = (runId) => this.queries.artifacts(runId);
  readonly definition: RunQueries['definition'] = (...call) => this.queries.definition(...call);
  readonly blackboard: RunQueries['blackboard'] = (...call) => this.queries.blackboard(...call);
  readonly rerunReport: RunQueries['rerunReport'] = (runId) => this.queries.rerunReport(runId);
  readonly previewRerun: RunQueries['previewRerun'] = (...call) => this.queries.previewRerun(...call);

  constructor(options: RegistryOptions = {}) {
    const { store, memory, secrets, retention = UNLIMITED_RETENTION } = options;
    const clock = completeClock(options.clock);
    const executor = new LocalExecutor(options);
    this.#options = options;
    this.#clock = clock;
    this.#executor = executor;
    this.stepRunner = executor.stepRunner;
    const groups = new ConcurrencyGroups((runId) => this.cancel(runId));
    this.#admission = new Admission(options.admission ?? UNLIMITED_ADMISSION, groups);
    this.#factory = new RunFactory(executor, clock, store, options);
    this.#idempotencyKeys = new IdempotencyStore(clock, options.idempotency, store);
    this.#retention = new Retention(retention, clock, memory, (...eviction) => this.#evict(...eviction));
    this.#runs = new RunIndex(clock, this.#retention);
    this.#storeGuard = new StoreGuard(store);
    this.#archived = store?.archive && this.#openArchive(store, store.archive, clock);
    this.queries = new RunQueries({
      runs: this.#runs,
      executor,
      admission: this.#admission,
      storeGuard: this.#storeGuard,
      restoration: () => this.#restoration,
      archived: this.#archived,
      limits: this.#archived?.limits ?? retention,
      clock,
      memory,
      secrets,
    });
  }

  /**
   * Accepts a run of a pipeline and returns its id; the run starts as soon as a slot is free (D25). With an idempotency
   * key that was used before, returns the id of that earlier run, even if it is no longer kept (D36). Rejects before a
   * run exists with `invalid_params`, `invalid_inputs`, `invalid_options`, `queue_full`, `shutting_down`, `not_ready` or
   * `idempotency_conflict`.
   */
  async submit(run: RunInputs, submission: SubmissionOptions = {}): Promise<string> {
    const tenantId = readTenantId(run);
    const inputs = hasLongValues(run) ? await this.stepRunner.run(freezeInSteps(run), tenantId) : run;
    return this.#submit(tenantId, submission, { kind: 'pipeline', inputs });
  }

  /** Accepts a run of a plan, as `submit` does (D35). */
  async submitPlan(run: PlanInputs, submission: SubmissionOptions = {}): Promise<string> {
    const tenantId = readTenantId(run);
    const inputs = hasLongValues(run) ? await this.stepRunner.run(freezeInSteps(run), tenantId) : run;
    return this.#submit(tenantId, submission, { kind: 'plan', inputs });
  }

  /**
   * Calls `submit` unless the key was used before, and returns the run of the first submission (D36), or its error, also
   * while that is still being checked. Rejects as `submit` does, and with `idempotency_conflict`.
   *
   * @param submit passes the options to the registry's `submit` or `submitPlan`
   */
  async submitOnce(
    tenantId: string,
    idempotency: IdempotencyKey,
    submit: (options: SubmissionOptions) => Promise<string>,
  ): Promise<OnceAcceptedRun> {
    this.#retention.sweep();
    const begin = (reservation: Reservation): Promise<string> => submit({ reservation });
    if (this.#archived !== undefined) await this.#archived.findKey(tenantId, idempotency);
    const earlier = this.#idempotencyKeys.runOf(tenantId, idempotency);
    if (earlier !== undefined) await this.#restoration?.whenRestored(earlier, [tenantId]);
    const { runId, isReplayed, lastStatus } = await this.#idempotencyKeys.once(tenantId, idempotency, begin);
    const kept = isReplayed ? this.#runs.get(runId) : undefined;
    const isInArchive = isReplayed && lastStatus === undefined && kept === undefined;
    const archived = isInArchive ? await this.#archived?.archive.head(runId, tenantId) : undefined;
    if (isInArchive && !this.#runs.has(runId)) this.#idempotencyKeys.unload(runId);
    const status = lastStatus ?? kept?.run.status ?? archived?.endStatus ?? INITIAL_STATUS;
    return { run_id: runId, status, isReplayed, isKept: lastStatus === undefined };
  }

  /**
   * Runs a settled run again, with changes if there are any (D35, D60), and returns the id of the new run. Rejects with
   * `run_not_found`, `run_not_settled`, `nothing_to_rerun`, `invalid_request` and as `submit` does.
   */
  async rerun(
    runId: string,
    request: RerunRequest = {},
    submission: SubmissionOptions = {},
  ): Promise<string> {
    if (this.#runs.has(runId)) return this.#rerun(runId, request, submission);
    const close = await this.queries.open(runId, null);
    try {
      return await this.#rerun(runId, request, submission);
    } finally {
      close();
    }
  }

  async #rerun(runId: string, request: RerunRequest, submission: SubmissionOptions): Promise<string> {
    const entry = this.#runs.find(runId);
    const { run } = entry;
    const release = entry.retain();
    const hasFiles = this.#executor.hasArtifacts(runId);
    try {
      const rerun = await this.stepRunner.run(
        prepareRerun(run, request, this.#options.secrets),
        run.tenantId,
      );
      // Throws if the run, whose files the rerun needs, was deleted meanwhile.
      if (hasFiles) this.#runs.find(runId);
      return await this.#submit(run.tenantId, { ...submission, isOfFolder: run.isOfFolder }, rerun);
    } finally {
      release();
    }
  }

  /** Cancels a run (rule 12, D21). Rejects with `run_not_found`, `run_already_terminal`, `not_ready` or `shutting_down`. */
  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<RunRecord> {
    const entry = this.#runs.findLive(runId, alreadyTerminal);
    const { run } = entry;
    this.#storeGuard.assertWorks();
    this.#admission.startBegun(entry);
    // A task that is being published is kept first, and its dependents go on: so they do when the run is rebuilt.
    while (run.isPublishing) await this.#storeGuard.unlessFails(run.committed());
    assertNotLeft(run);
    const isRebuilding = run.rebuilding !== undefined;
    await this.#executor.cancel(runId, options);
    if (isRebuilding) assertNotLeft(run);
    await this.#storeGuard.unlessFails(run.committed());
    return toRunRecord(run, run.waitingFor);
  }

  /** Lets a paused run go on, to its next breakpoint or by one wave. Throws `run_not_found`, `run_not_paused`, `not_ready` or `shutting_down`. */
  resume(runId: string, by: 'continue' | 'step'): RunRecord {
    const { run } = this.#runs.findLive(runId, notPaused);
    this.#storeGuard.assertWorks();
    this.#executor.resume(runId, by);
    return toRunRecord(run, run.waitingFor);
  }

  /** Deletes a settled run. Throws `run_not_found` or `run_not_settled`. */
  remove(runId: string): void {
    assertSettled(this.#runs.find(runId).run);
    this.forget(runId);
  }

  /** Deletes the settled runs of one page of a list. Rejects as `listInTurns`. @param tenantId of the caller */
  removePage(query: RunQuery, finishedBeforeMs: number, tenantId: string): Promise<RemovedRuns> {
    return removePage(query, finishedBeforeMs, tenantId, {
      queries: this.queries,
      runs: this.#runs,
      archived: this.#archived,
      forget: (runId) => this.forget(runId),
    });
  }

  /** Deletes a run whose result was delivered, unless the result names files, which would go with it (D26). */
  forgetDelivered(runId: string): void {
    if (!this.#executor.hasArtifacts(runId)) this.forget(runId);
  }

  /** Deletes a run in any state, stopping it first if it has not settled. */
  forget(runId: string): void {
    const entry = this.#runs.get(runId);
    if (entry === undefined) return;
    this.#retention.delete(entry);
    this.#drop(entry);
  }

  /** Resolves when the outputs that the cache keeps in its folder are there (D65). Call before the process ends. */
  cacheWritten(): Promise<void> {
    return this.#executor.cacheWritten();
  }

  /** The number of runs that were left at the end, for the next process. */
  get leftRuns(): number {
    return this.#runs.leftRuns;
  }

  get hasStoreFailed(): boolean {
    return this.#storeGuard.hasFailed;
  }

  /**
   * Rejects further submissions and cancels queued runs. Running runs get `graceMs` to settle, then they are cancelled
   * by force. With a store, both are left instead, for the next process (D68). Resolves when nothing is at work.
   *
   * @param answerRequests is called when nothing is at work, and awaited before the store is closed
   */
  async close(graceMs: number, answerRequests?: () => Promise<void>): Promise<void> {
    const { store } = this.#options;
    this.#isClosing = true;
    const reading = this.#restoration?.close() ?? this.#restoring;
    if (reading !== undefined) await reading;
    const pruning = this.#archived?.close();
    if (pruning !== undefined) await pruning;
    const end = (run: AnyRun, force: boolean): void => {
      if (store === undefined) run.cancel(force);
      else this.#runs.leave(run);
    };
    await this.#admission.drain(graceMs, this.#clock, end);
    await this.#executor.close();
    await answerRequests?.();
    await store?.close();
  }

  async #submit(tenantId: string, submission: SubmissionOptions, run: RequestedRun): Promise<string> {
    const { idempotency, ...others } = submission;
    if (idempotency === undefined) return this.#accept(tenantId, submission, run);
    const accepted = await this.submitOnce(tenantId, idempotency, async ({ reservation }) =>
      this.#accept(tenantId, { ...others, reservation }, run),
    );
    return accepted.run_id;
  }

  /** Admits the run, which may begin at once. Resolves with its id when it can be found after a crash (D68). */
  async #accept(tenantId: string, submission: SubmissionOptions, requested: RequestedRun): Promise<string> {
    const { reservation, isOfFolder, onEvent, onAccepted, onInspection } = submission;
    this.#storeGuard.assertWorks();
    this.#retention.sweep();
    if (this.#isClosing) throw leftToNextProcess('its runs');
    this.#admission.checkCapacity(tenantId);
    const origin = { ...submission, idempotency: reservation?.key };
    const groups = isOfFolder === true ? this.#admission.groups : undefined;
    const entry = this.#enter(this.#factory.create(requested, tenantId, origin, groups));
    const { run } = entry;
    if (reservation) this.#idempotencyKeys.assign(reservation, run.id);
    onAccepted?.(this.queries.settled(run.id));
    if (onInspection) onInspection(entry.inspection(this.#clock).openNow(), toRunRecord(run));
    entry.announce(onEvent, this.#options);
    this.#admission.admit(entry);
    try {
      await this.#storeGuard.unlessFails(run.committed());
    } catch (error) {
      this.forget(run.id);
      throw error;
    }
    return run.id;
  }

  /**
   * Takes over the runs of the store, beside requests (D68). Resolves when all of them can be found, but for those that wait
   * for memory; with undefined when the registry is closed before. Rejects when the store cannot be read.
   *
   * @param onListed is called when the runs are known: requests may come from then on, after `whenRestored`
   */
  restore(revive: ReviveDefinition, onListed?: () => void): Promise<RestoredRuns | undefined> {
    const restored = this.#restore(revive, onListed);
    const settle = (): void => void (this.#restoring = undefined);
    this.#restoring = restored.then(settle, settle);
    return restored;
  }

  async #restore(revive: ReviveDefinition, onListed?: () => void): Promise<RestoredRuns | undefined> {
    const { store, memory, checkedBy } = this.#options;
    if (store === undefined) return { kept: 0, goingOn: 0, waiting: 0 };
    const reader = new StoredRunReader({ store, revive, checkedBy, executor: this.#executor });
    const restoration = new Restoration({
      store,
      reader,
      missingFiles: new MissingRunFiles(this.#executor),
      runs: this.#runs,
      keys: this.#idempotencyKeys,
      admission: this.#admission,
      retention: this.#retention,
      clock: this.#clock,
      memory,
      enter: this.#enter.bind(this),
      observers: this.#options,
      isClosing: () => this.#isClosing,
    });
    await restoration.list();
    const archived = (await store.archive?.count({ limit: 1 }, '')) ?? {};
    this.#restoration = restoration;
    if (!this.#isClosing) this.#archived?.start(reader);
    if (!this.#isClosing) onListed?.();
    if (!(await restoration.run())) return undefined;
    const { kept, goingOn, waiting } = restoration;
    const all = Object.values<number>(archived).reduce((total, count) => total + count, kept);
    return { kept: all, goingOn, waiting };
  }

  #openArchive(store: RunStore, archive: RunArchive, clock: Clock): ArchivedRuns {
    return new ArchivedRuns({
      store,
      archive,
      executor: this.#executor,
      runs: this.#runs,
      keys: this.#idempotencyKeys,
      cache: this.#retention,
      memory: this.#options.memory,
      clock,
      options: this.#options,
    });
  }

  #enter({ run, number }: CreatedRun): LiveRunEntry {
    const entry = new LiveRunEntry(run, number, this.#options.eventBuffer ?? 0);
    this.#runs.add(entry);
    void run.settled.then(() => this.#onSettled(entry));
    entry.limitPauses(this.#clock, this.#options.pauseTimeoutMs);
    return entry;
  }

  /** Runs once for every run, however it ended. */
  #onSettled(entry: LiveRunEntry): void {
    const { run } = entry;
    const isKept = this.#runs.has(run.id);
    const archived = run.isLeft ? undefined : this.#archived;
    if (isKept && archived === undefined) this.#runs.onChanged(entry);
    // A run that is left goes on in the next process: whoever waits for it must not see an end.
    if (run.isLeft && isKept) return;
    entry.log.close();
    if (run.wasSettled) return;
    this.#admission.release(entry);
    if (!isKept) return;
    // The archive has the end: it was committed with the last fact.
    if (archived === undefined) this.#retention.add(entry);
    else archived.onSettled(entry);
  }

  /** Drops a settled run whose memory others need. */
  #evict(entry: RunEntry, reason: EvictionReason): void {
    this.#options.onEvicted?.(reason);
    if (this.#archived === undefined) this.#drop(entry);
    else this.#archived.unload(entry);
  }

  #drop(entry: RunEntry): void {
    const { id, status } = entry.run;
    this.#runs.delete(entry);
    this.#idempotencyKeys.forgetRun(id, status);
    this.#executor.forget(id);
    this.#options.store?.remove(id);
    entry.drop();
  }
}
