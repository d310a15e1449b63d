import type { Clock } from '../../common/clock.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { ErrorRecord } from '../../execution/invocation/thrown-error.js';
import type { AnyRun, LocalExecutor } from '../../execution/local-executor.js';
import { Admission, UNLIMITED_ADMISSION } from '../admission.js';
import type { EventLog } from '../event-log.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import type { OpenInspection } from '../inspection/inspection.js';
import { StatelyFeed, type StatelyMessage } from '../inspection/stately-feed.js';
import { INITIAL_STATUS } from '../../../machines/status.js';
import type { RunStatus } from '../../../machines/types.js';
import { type AcceptedRun, type RunRecord, type RunSummary, toRunRecord } from '../record.js';
import {
  mergeValues,
  previewRerun,
  type RerunChanges,
  type RerunRequest,
  type RerunValues,
} from '../rerun/rerun.js';
import { describeRerun, type RerunReport } from '../rerun/rerun-report.js';
import type { StepRunner } from '../../execution/prepare/step-runner.js';
import type { RegistryOptions } from '../registry-options.js';
import type { RunEntry } from '../run-entry.js';
import { RunFiles } from '../tasks/run-files.js';
import { findError, getItem, getTask, listFailedCalls, listItems, listTasks } from '../tasks/task-pages.js';
import type {
  FailedCall,
  FailedCallsQuery,
  ItemPage,
  ItemRecord,
  TaskOptions,
  TaskPage,
  TaskQuery,
  TaskRecord,
} from '../tasks/task-record.js';
import { collectLastRuns, type DefinitionOfTenant, type RunPage, type RunQuery } from './run-listing.js';
import { RunIndex } from './run-index.js';
import {
  type BlackboardOptions,
  type BlackboardView,
  definitionOf,
  type EditableDefinition,
  type DefinitionOfRun,
  showBlackboard,
  showDefinition,
  type WriteYaml,
} from './submission-view.js';

/** The views of the runs of a registry. */
export abstract class RunViews {
  protected readonly options: RegistryOptions;
  protected readonly clock: Clock;
  protected readonly executor: LocalExecutor;
  protected readonly admission: Admission;
  protected readonly runs: RunIndex;

  /** Checks definitions beside the runs, so that neither holds the event loop for long. */
  readonly stepRunner: StepRunner;

  constructor(options: RegistryOptions, clock: Clock, executor: LocalExecutor) {
    this.options = options;
    this.clock = clock;
    this.executor = executor;
    this.admission = new Admission(options.admission ?? UNLIMITED_ADMISSION);
    this.runs = new RunIndex(clock, this.admission);
    this.stepRunner = executor.stepRunner;
  }

  /** Finds a run. Throws `run_not_found`, and `shutting_down` for one that is left to the next process. */
  protected abstract entry(runId: string): RunEntry;

  /** Evicts runs that are no longer kept. Call before every look at all of them. */
  protected abstract sweep(): void;

  /** Throws `shutting_down` when runs are left to the next process. */
  protected abstract assertListable(): void;

  /** One page of runs, newest first. Throws `invalid_request` for a malformed cursor, and `shutting_down`. */
  list(query: RunQuery): RunPage {
    return this.#listable.page(query);
  }

  /**
   * One page of runs, as `list` returns it, in turns with other requests: there may be a million runs. Rejects as `list`
   * throws.
   *
   * @param tenantId of the caller
   */
  async listInTurns(query: RunQuery, tenantId: string): Promise<RunPage> {
    return runInSlices(this.#listable.pageInSteps(query), tenantId);
  }

  /** A text that changes whenever the page may. Throws `shutting_down`. */
  listVersion(query: RunQuery): string {
    return this.#listable.version(query);
  }

  /** The last runs of each of some pipelines and plans, the newest first, in steps; of one without runs, none. */
  lastRunsInSteps<D extends DefinitionOfTenant>(
    definitions: readonly D[],
    most: number,
  ): Steps<ReadonlyMap<D, RunSummary[]>> {
    this.sweep();
    return collectLastRuns(this.runs.newestFirst(), definitions, most);
  }

  get #listable(): RunIndex {
    this.assertListable();
    this.sweep();
    return this.runs;
  }

  /** The number of kept runs per status; omits a status without runs. */
  countByStatus(): ReadonlyMap<RunStatus, number> {
    this.sweep();
    return this.runs.countByStatus();
  }

  /**
   * Keeps the memory of a run counted until the returned function is called, even when the run is deleted or evicted
   * before. For responses that are sent from it bit by bit. Returns undefined when the run is not kept any more.
   */
  retain(runId: string): (() => void) | undefined {
    return this.runs.get(runId)?.retain();
  }

  /** The current record of the run. Throws `run_not_found`. */
  record(runId: string): RunRecord {
    return toRunRecord(this.entry(runId).run);
  }

  /** Returns the response to the submission: the initial status, even if the run has started. Throws `run_not_found`. */
  accepted(runId: string): AcceptedRun {
    return { run_id: this.entry(runId).run.id, status: INITIAL_STATUS };
  }

  /** Returns the tenant of a run. Throws `run_not_found`. */
  tenantId(runId: string): string {
    return this.entry(runId).run.tenantId;
  }

  /** Says whether a run belongs to a pipeline or to a plan. Throws `run_not_found`. */
  kind(runId: string): AnyRun['kind'] {
    return this.entry(runId).run.kind;
  }

  /** Returns a text that changes whenever the record does. Throws `run_not_found`. */
  version(runId: string): string {
    return this.entry(runId).version;
  }

  /** The last events of a run. Throws `run_not_found`. */
  events(runId: string): EventLog {
    return this.entry(runId).log;
  }

  /**
   * One page of the tasks of a run, with their inputs, outputs and errors (D59). Rejects with `run_not_found`,
   * `task_not_found` for an unknown sub-pipeline, `invalid_request` for a malformed cursor, and `memory_full`.
   */
  tasks(runId: string, query: TaskQuery = {}): Promise<TaskPage> {
    return this.#inspectInSteps(runId, (run, hold) => listTasks(run, query, hold));
  }

  /** One task of a run. Rejects as `tasks`. */
  task(runId: string, taskId: string, options: TaskOptions = {}): Promise<TaskRecord> {
    return this.#inspectInSteps(runId, (run, hold) => getTask(run, taskId, options, hold));
  }

  /** One page of the items of a fan-out. Rejects as `tasks`. */
  items(runId: string, taskId: string, query: TaskQuery = {}): Promise<ItemPage> {
    return this.#inspectInSteps(runId, (run, hold) => listItems(run, taskId, query, hold));
  }

  /** One item of a fan-out. Rejects as `tasks`. */
  item(runId: string, taskId: string, item: number, options: TaskOptions = {}): Promise<ItemRecord> {
    return this.#inspectInSteps(runId, (run, hold) => getItem(run, taskId, item, options, hold));
  }

  /** Looks at the checked definition of a run, in turns with other requests. Rejects with `run_not_found`. */
  async inspectDefinition<T>(
    runId: string,
    createSteps: (definition: DefinitionOfRun) => Steps<T>,
  ): Promise<T> {
    return this.#inspectInSteps(runId, (run) => createSteps(definitionOf(run)));
  }

  /** Shows how a run was submitted, to change and rerun it (D59, D60). Rejects with `run_not_found`, `memory_full`. */
  async definition(runId: string, writeYaml: WriteYaml): Promise<EditableDefinition> {
    return this.#inspectInSteps(runId, (run, hold) => showDefinition(run, writeYaml, hold));
  }

  /** The session values with which a run began, and those that it has now (D59). Rejects as `definition`. */
  async blackboard(runId: string, options: BlackboardOptions = {}): Promise<BlackboardView> {
    return this.#inspectInSteps(runId, (run, hold) => showBlackboard(run, options, hold));
  }

  /** Why the task failed that failed a run; undefined when no task did. Throws `run_not_found`. */
  failure(runId: string): ErrorRecord | undefined {
    return findError(this.entry(runId).run);
  }

  /** The tasks and items that have failed, first the one that failed the run, with their values. Rejects as `tasks`. */
  failedCalls(runId: string, query: FailedCallsQuery): Promise<FailedCall[]> {
    return this.#inspectInSteps(runId, (run, hold) => listFailedCalls(run, query, hold));
  }

  /** Looks at a run. */
  async #inspectInSteps<T>(
    runId: string,
    createSteps: (run: AnyRun, hold: (bytes: number) => void) => Steps<T>,
  ): Promise<T> {
    return this.entry(runId).inspectInSteps(this.options.memory, createSteps);
  }

  /** Resolves with what a rerun reuses and what it runs; with null when it is no longer kept. */
  async rerunReport(runId: string): Promise<RerunReport | null> {
    const run = this.runs.get(runId)?.run;
    return run === undefined ? null : this.stepRunner.run(describeRerun(run.prepared), run.tenantId);
  }

  /**
   * Says what a rerun would reuse and what it would run, without running anything (D60). Rejects as `RunRegistry.rerun`
   * does before a run exists, but for `queue_full`.
   */
  async previewRerun(runId: string, request: RerunRequest): Promise<RerunReport> {
    const { secrets } = this.options;
    return this.#inspectInSteps(runId, (run, hold) => previewRerun(run, request, secrets, hold));
  }

  /** The values with which the changed definition of a rerun is to be checked. Rejects with `run_not_found`. */
  async rerunValues(runId: string, changes: RerunChanges): Promise<RerunValues> {
    const { run } = this.entry(runId);
    return this.stepRunner.run(mergeValues(run, changes), run.tenantId);
  }

  /** The files of a run (D63). Throws `run_not_found`. */
  artifacts(runId: string): RunFiles {
    return new RunFiles(this.entry(runId).run, this.executor);
  }

  /** The actor tree of a run, as JSON. Throws `run_not_found`. */
  snapshot(runId: string): unknown {
    return this.entry(runId).run.getActorTree();
  }

  /** Informs the Stately inspector about a run, until the feed is closed. Throws `run_not_found`. */
  statelyFeed(runId: string, send: (message: StatelyMessage) => void): StatelyFeed {
    return new StatelyFeed(this.entry(runId).run, this.clock, send);
  }

  /** Opens the inspection of the actors of a run (D35). Rejects with `run_not_found` and `memory_full`. */
  async inspection(runId: string): Promise<OpenInspection> {
    return this.entry(runId).openInspection(this.clock, this.options.memory);
  }
}
