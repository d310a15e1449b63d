import type { Clock } from '../common/clock.js';
import type { Steps } from '../common/steps.js';
import type { ErrorRecord } from '../execution/invocation/thrown-error.js';
import type { AnyRun, LocalExecutor } from '../execution/local-executor.js';
import type { EventLog } from './event-log.js';
import type { OpenInspection } from './inspection/inspection.js';
import { StatelyFeed, type StatelyMessage } from './inspection/stately-feed.js';
import { INITIAL_STATUS } from '../../machines/status.js';
import {
  type AcceptedRun,
  collectLastRuns,
  type DefinitionOfTenant,
  type RunRecord,
  type RunSummary,
  toRunRecord,
} from './record.js';
import { mergeValues, type RerunChanges, type RerunValues } from './rerun/rerun.js';
import type { StepRunner } from '../execution/prepare/step-runner.js';
import type { RegistryOptions } from './registry-options.js';
import type { RunEntry } from './run-entry.js';
import { RunFiles } from './tasks/run-files.js';
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

/** What can be seen of each run of a registry. */
export abstract class RunViews {
  protected readonly options: RegistryOptions;
  protected readonly clock: Clock;
  protected readonly executor: LocalExecutor;

  /** Checks definitions beside the runs, so that neither holds the event loop for long. */
  readonly stepRunner: StepRunner;

  constructor(options: RegistryOptions, clock: Clock, executor: LocalExecutor) {
    this.options = options;
    this.clock = clock;
    this.executor = executor;
    this.stepRunner = executor.stepRunner;
  }

  /** Finds a run. Throws `run_not_found`, and `shutting_down` for one that is left to the next process. */
  protected abstract entry(runId: string): RunEntry;

  /** All runs, the newest first. */
  protected abstract newestFirst(): Iterable<RunEntry>;

  /** The last runs of each of some pipelines and plans, the newest first; of one without runs, none. */
  lastRuns(
    definitions: readonly DefinitionOfTenant[],
    most: number,
  ): ReadonlyMap<DefinitionOfTenant, RunSummary[]> {
    return collectLastRuns(this.newestFirst(), definitions, most);
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

  /** Whether a run belongs to a pipeline or to a plan. Throws `run_not_found`. */
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

  /** Informs the Stately inspector about a run, until it is closed. Throws `run_not_found`. */
  statelyFeed(runId: string, send: (message: StatelyMessage) => void): StatelyFeed {
    return new StatelyFeed(this.entry(runId).run, this.clock, send);
  }

  /** What the actors of a run do, for an inspector (D35). Rejects with `run_not_found` and `memory_full`. */
  async inspection(runId: string): Promise<OpenInspection> {
    return this.entry(runId).openInspection(this.clock, this.options.memory);
  }
}
