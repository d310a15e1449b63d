import { INITIAL_STATUS } from '../../machines/status.js';
import type { RunStatus } from '../../machines/types.js';
import { type Clock, completeClock } from '../common/clock.js';
import { LinkedMap } from '../common/queues/linked-map.js';
import type { Steps } from '../common/steps.js';
import { type AnyRun, LocalExecutor, runNotFound } from '../execution/local-executor.js';
import type { ErrorRecord } from '../execution/invocation/thrown-error.js';
import type { StepRunner } from '../execution/prepare/step-runner.js';
import { freezeInSteps, hasLongValues, readTenantId } from '../execution/prepare/prepare-run.js';
import type { PlanInputs, RunInputs } from '../execution/run-inputs.js';
import { Admission, UNLIMITED_ADMISSION } from './admission.js';
import { RunFiles } from './run-files.js';
import type { EventLog } from './event-log.js';
import { fairYield, runInTurns } from './fair-yield.js';
import type { OpenInspection } from './inspection/inspection.js';
import {
  type IdempotencyKey,
  IdempotencyStore,
  type OnceAcceptedRun,
  type Reservation,
} from './idempotency.js';
import { StatelyFeed, type StatelyMessage } from './inspection/stately-feed.js';
import { countStatuses, paginate, type RunPage, type RunQuery } from './listing.js';
import { type AcceptedRun, type RunRecord, toRunRecord } from './record.js';
import type { RegistryOptions, SubmissionOptions } from './registry-options.js';
import {
  assertSettled,
  createRerun,
  mergeValues,
  prepareRerun,
  type RerunChanges,
  type RerunRequest,
  type RerunValues,
} from './rerun/rerun.js';
import { describeRerun, type RerunReport } from './rerun/rerun-report.js';
import { Retention, UNLIMITED_RETENTION } from './retention.js';
import { RunEntry } from './run-entry.js';
import { findError, getItem, getTask, listFailedCalls, listItems, listTasks } from './tasks/task-pages.js';
import type {
  FailedCall,
  FailedCallsQuery,
  ItemPage,
  ItemRecord,
  TaskOptions,
  TaskPage,
  TaskQuery,
  TaskRecord,
} from './tasks/task-record.js';

export { runInTurns } from './fair-yield.js';
export { recordingFormat } from './inspection/recording.js';

/** All runs, by id: the only entry point to runs for the command line and the HTTP API (law L2). */
export class RunRegistry {
  /** In the order of their submission. */
  readonly #entries = new LinkedMap<string, RunEntry>();
  readonly #idempotencyKeys: IdempotencyStore;
  readonly #executor: LocalExecutor;
  readonly #admission: Admission;
  readonly #retention: Retention<RunEntry>;
  readonly #options: RegistryOptions;
  readonly #clock: Clock;
  #submitted = 0;

  /** Shares the event loop between requests: the HTTP API reaches it through the registry, as all that concerns runs. */
  readonly fairYield = fairYield;

  /** Checks definitions beside the runs, so that neither holds the event loop for long. */
  readonly stepRunner: StepRunner;

  constructor(options: RegistryOptions = {}) {
    this.#options = options;
    this.#clock = completeClock(options.clock);
    this.#executor = new LocalExecutor(options);
    this.stepRunner = this.#executor.stepRunner;
    this.#idempotencyKeys = new IdempotencyStore(this.#clock, options.idempotency);
    this.#admission = new Admission(options.admission ?? UNLIMITED_ADMISSION);
    const { retention = UNLIMITED_RETENTION, memory } = options;
    this.#retention = new Retention(retention, this.#clock, memory, (entry) => this.#drop(entry));
  }

  /**
   * Accepts a run of a pipeline and returns its id; the run starts as soon as a slot is free (D25). With an idempotency
   * key that was used before, returns the id of that earlier run, even if it is no longer kept (D36). Rejects before a
   * run exists with `invalid_params`, `invalid_inputs`, `invalid_options`, `queue_full`, `shutting_down` or
   * `idempotency_conflict`.
   */
  async submit(run: RunInputs, submission: SubmissionOptions = {}): Promise<string> {
    const tenantId = readTenantId(run);
    const frozen = hasLongValues(run) ? await this.stepRunner.run(freezeInSteps(run), tenantId) : run;
    return this.#submit(tenantId, submission, () => this.#executor.createRun(frozen));
  }

  /** Accepts a run of a plan, as `submit` does (D35). */
  async submitPlan(run: PlanInputs, submission: SubmissionOptions = {}): Promise<string> {
    const tenantId = readTenantId(run);
    const frozen = hasLongValues(run) ? await this.stepRunner.run(freezeInSteps(run), tenantId) : run;
    return this.#submit(tenantId, submission, () => this.#executor.createPlanRun(frozen));
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
    const { runId, isReplayed, lastStatus } = await this.#idempotencyKeys.once(tenantId, idempotency, begin);
    const kept = isReplayed ? this.#entries.get(runId) : undefined;
    const status = lastStatus ?? kept?.run.status ?? INITIAL_STATUS;
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
    const entry = this.#entry(runId);
    const { run } = entry;
    const release = entry.retain();
    const hasFiles = this.#executor.hasArtifacts(runId);
    try {
      const rerun = await this.stepRunner.run(
        prepareRerun(run, request, this.#clock, this.#options.secrets),
        run.tenantId,
      );
      if (hasFiles) this.#entry(runId); // throws if they were deleted meanwhile
      return await this.#submit(run.tenantId, submission, () => createRerun(this.#executor, rerun));
    } finally {
      release();
    }
  }

  /** The values with which the changed definition of a rerun is to be checked. Rejects with `run_not_found`. */
  async rerunValues(runId: string, changes: RerunChanges): Promise<RerunValues> {
    const { run } = this.#entry(runId);
    return this.stepRunner.run(mergeValues(run, changes), run.tenantId);
  }

  /** Resolves with what a rerun reuses and what it runs; with null when it is no longer kept. */
  async rerunReport(runId: string): Promise<RerunReport | null> {
    const run = this.#entries.get(runId)?.run;
    return run === undefined ? null : this.stepRunner.run(describeRerun(run.prepared), run.tenantId);
  }

  /** Returns the response to the submission: the initial status, even if the run has started. Throws `run_not_found`. */
  accepted(runId: string): AcceptedRun {
    return { run_id: this.#entry(runId).run.id, status: INITIAL_STATUS };
  }

  /** The current record of the run. Throws `run_not_found`. */
  record(runId: string): RunRecord {
    return toRunRecord(this.#entry(runId).run);
  }

  /** Returns the tenant of a run. Throws `run_not_found`. */
  tenantId(runId: string): string {
    return this.#entry(runId).run.tenantId;
  }

  /** Whether a run belongs to a pipeline or to a plan. Throws `run_not_found`. */
  kind(runId: string): AnyRun['kind'] {
    return this.#entry(runId).run.kind;
  }

  /** Returns a text that changes whenever the record does. Throws `run_not_found`. */
  version(runId: string): string {
    return this.#entry(runId).version;
  }

  /** One page of runs, newest first. Throws `invalid_request` for a malformed cursor. */
  list(query: RunQuery): RunPage {
    this.#retention.sweep();
    return paginate(this.#entries.backwards(), query);
  }

  /** The last events of a run. Throws `run_not_found`. */
  events(runId: string): EventLog {
    return this.#entry(runId).log;
  }

  /**
   * One page of the tasks of a run, with their inputs, outputs and errors (D59). Rejects with `run_not_found`,
   * `task_not_found` for an unknown sub-pipeline, `invalid_request` for a malformed cursor, and `memory_full`.
   */
  tasks(runId: string, query: TaskQuery = {}): Promise<TaskPage> {
    return this.#inspect(runId, (run, hold) => listTasks(run, query, hold));
  }

  /** One task of a run. Rejects as `tasks`. */
  task(runId: string, taskId: string, options: TaskOptions = {}): Promise<TaskRecord> {
    return this.#inspect(runId, (run, hold) => getTask(run, taskId, options, hold));
  }

  /** One page of the items of a fan-out. Rejects as `tasks`. */
  items(runId: string, taskId: string, query: TaskQuery = {}): Promise<ItemPage> {
    return this.#inspect(runId, (run, hold) => listItems(run, taskId, query, hold));
  }

  /** One item of a fan-out. Rejects as `tasks`. */
  item(runId: string, taskId: string, item: number, options: TaskOptions = {}): Promise<ItemRecord> {
    return this.#inspect(runId, (run, hold) => getItem(run, taskId, item, options, hold));
  }

  /** Why the task failed that failed a run; undefined when no task did. Throws `run_not_found`. */
  failure(runId: string): ErrorRecord | undefined {
    return findError(this.#entry(runId).run);
  }

  /** The tasks and items that have failed, first the one that failed the run, with their values. Rejects as `tasks`. */
  failedCalls(runId: string, query: FailedCallsQuery): Promise<FailedCall[]> {
    return this.#inspect(runId, (run, hold) => listFailedCalls(run, query, hold));
  }

  /** Looks at a run. Its memory counts meanwhile, even if it is forgotten, and so does what is rendered. */
  async #inspect<T>(
    runId: string,
    createSteps: (run: AnyRun, hold: (bytes: number) => void) => Steps<T>,
  ): Promise<T> {
    const entry = this.#entry(runId);
    const { memory } = this.#options;
    const { tenantId } = entry.run;
    const release = entry.retain();
    let heldBytes = 0;
    const hold = (bytes: number): void => {
      memory?.reserve(tenantId, bytes, 'response');
      heldBytes += bytes;
    };
    try {
      return await runInTurns(createSteps(entry.run, hold), tenantId);
    } finally {
      memory?.release(tenantId, heldBytes);
      release();
    }
  }

  /** The files of a run (D63). Throws `run_not_found`. */
  artifacts(runId: string): RunFiles {
    return new RunFiles(this.#entry(runId).run, this.#executor);
  }

  /** The actor tree of a run, as JSON. Throws `run_not_found`. */
  snapshot(runId: string): unknown {
    return this.#entry(runId).run.getActorTree();
  }

  /** Informs the Stately inspector about a run, until it is closed. Throws `run_not_found`. */
  statelyFeed(runId: string, send: (message: StatelyMessage) => void): StatelyFeed {
    return new StatelyFeed(this.#entry(runId).run, this.#clock, send);
  }

  /** What the actors of a run do, for an inspector (D35). Rejects with `run_not_found` and `memory_full`. */
  async inspection(runId: string): Promise<OpenInspection> {
    return this.#entry(runId).openInspection(this.#clock, this.#options.memory);
  }

  /** Resolves with the record once the run has settled. Rejects with `run_not_found`, also when it is forgotten before. */
  async settled(runId: string): Promise<RunRecord> {
    const { run } = this.#entry(runId);
    await run.settled;
    if (run.status === 'queued' || run.status === 'running') throw runNotFound(runId);
    return toRunRecord(run);
  }

  /** Cancels a run (rule 12, D21) and returns its record. Rejects with `run_not_found` or `run_already_terminal`. */
  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<RunRecord> {
    const { run } = this.#entry(runId);
    await this.#executor.cancel(runId, options);
    return toRunRecord(run);
  }

  /**
   * Lets a paused run go on, to its next breakpoint or by one wave, and returns its record.
   *
   * @throws WavetrainError `run_not_found` or `run_not_paused`
   */
  resume(runId: string, by: 'continue' | 'step'): RunRecord {
    const { run } = this.#entry(runId);
    this.#executor.resume(runId, by);
    return toRunRecord(run);
  }

  /** Deletes a settled run. Throws `run_not_found` or `run_not_settled`. */
  remove(runId: string): void {
    assertSettled(this.#entry(runId).run);
    this.forget(runId);
  }

  /** Deletes a run whose result was delivered, unless the result names files, which would go with it (D26). */
  forgetDelivered(runId: string): void {
    if (!this.#executor.hasArtifacts(runId)) this.forget(runId);
  }

  /** Deletes a run in any state, stopping it first if it has not settled. */
  forget(runId: string): void {
    const entry = this.#entries.get(runId);
    if (entry === undefined) return;
    this.#retention.delete(entry);
    this.#drop(entry);
  }

  /** Resolves when the outputs that the cache keeps in its folder are there (D65). Call before the process ends. */
  cacheWritten(): Promise<void> {
    return this.#executor.cacheWritten();
  }

  /**
   * Keeps the memory of a run counted until the returned function is called, even when the run is deleted or evicted
   * before. For responses that are sent from it bit by bit. Returns undefined when the run is not kept any more.
   */
  retain(runId: string): (() => void) | undefined {
    return this.#entries.get(runId)?.retain();
  }

  /** The number of queued and of running runs. */
  get load(): { readonly queued: number; readonly running: number } {
    return this.#admission.load;
  }

  /** The number of kept runs per status; omits a status without runs. */
  countByStatus(): ReadonlyMap<RunStatus, number> {
    this.#retention.sweep();
    return countStatuses(this.#entries);
  }

  /**
   * Rejects further submissions and cancels queued runs. Running runs get `graceMs` to settle, then they are cancelled
   * by force. Resolves when all runs have settled.
   */
  async close(graceMs: number): Promise<void> {
    const { queued, running } = this.#admission.close();
    for (const { run } of queued) run.cancel(false);
    const timer = this.#clock.setTimeout(() => {
      for (const { run } of running) run.cancel(true);
    }, graceMs);
    await Promise.all(running.map(({ run }) => run.settled));
    this.#clock.clearTimeout(timer);
    await this.#executor.close();
  }

  async #submit(tenantId: string, submission: SubmissionOptions, createRun: () => AnyRun): Promise<string> {
    const { idempotency, ...others } = submission;
    if (idempotency === undefined) return this.#accept(tenantId, submission, createRun);
    const accepted = await this.submitOnce(tenantId, idempotency, async ({ reservation }) =>
      this.#accept(tenantId, { ...others, reservation }, createRun),
    );
    return accepted.run_id;
  }

  #accept(tenantId: string, submission: SubmissionOptions, createRun: () => AnyRun): string {
    const { reservation, onEvent, onAccepted, onInspection } = submission;
    this.#retention.sweep();
    this.#admission.checkCapacity(tenantId);
    const run = createRun();
    const entry = new RunEntry(run, ++this.#submitted, this.#options.eventBuffer ?? 0);
    this.#entries.add(run.id, entry);
    if (reservation) this.#idempotencyKeys.assign(reservation, run.id);
    onAccepted?.(this.settled(run.id));
    if (onInspection) onInspection(entry.inspection(this.#clock).openNow(), toRunRecord(run));
    void run.settled.then(() => this.#onSettled(entry));
    entry.limitPauses(this.#clock, this.#options.pauseTimeoutMs);
    entry.announce(onEvent, this.#options.onEvent);
    this.#admission.admit(entry);
    return run.id;
  }

  /** Runs once for every run, however it ended. */
  #onSettled(entry: RunEntry): void {
    entry.log.close();
    this.#admission.release(entry);
    if (this.#entries.has(entry.run.id)) this.#retention.add(entry);
  }

  #drop(entry: RunEntry): void {
    const { id, status } = entry.run;
    this.#entries.delete(id);
    this.#idempotencyKeys.forgetRun(id, status);
    this.#executor.forget(id);
    entry.drop();
  }

  #entry(runId: string): RunEntry {
    this.#retention.sweep();
    const entry = this.#entries.get(runId);
    if (entry === undefined) throw runNotFound(runId);
    return entry;
  }
}
