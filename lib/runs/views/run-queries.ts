import { INITIAL_STATUS } from '../../../machines/status.js';
import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import type { MemoryPool } from '../../common/memory/memory-pool.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
import type { SecretSource } from '../../definition/secrets/run-secrets.js';
import type { ErrorRecord } from '../../execution/invocation/thrown-error.js';
import type { ReadableRun } from '../../execution/run/readable-run.js';
import { type LocalExecutor, runNotFound } from '../../execution/local-executor.js';
import type { Admission } from '../queue/admission.js';
import type { EventLog } from '../event-log.js';
import type { OpenInspection } from '../inspection/inspection.js';
import { RunActors } from '../inspection/run-actors.js';
import type { RunSummary } from '../../common/wire/run-summary.js';
import { type AcceptedRun, type RunRecord, toRunRecord } from '../record.js';
import {
  mergeValues,
  previewRerun,
  type RerunChanges,
  type RerunRequest,
  type RerunValues,
} from '../rerun/rerun.js';
import { describeRerun, type RerunReport } from '../rerun/rerun-report.js';
import type { RetentionLimits } from '../retention.js';
import type { KnownRun } from '../run-entry.js';
import type { Restoration } from '../store/restore/restoration.js';
import type { ArchivedRuns } from '../store/archived-runs.js';
import type { ArchivePage, ListedRun } from '../store/run-archive.js';
import {
  readStatistics,
  type StatisticsPage,
  type StatisticsRequest,
} from '../store/statistics/statistics-request.js';
import type { StoreGuard } from '../store/store-guard.js';
import { RunFiles } from '../tasks/run-files.js';
import {
  findError,
  getItem,
  getTask,
  itemsOn,
  listFailedCalls,
  listItems,
  listTasks,
} from '../tasks/task-pages.js';
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
import { assertNotLeft, leftToNextProcess, type RunIndex } from './run-index.js';
import {
  addArchived,
  collectLastRuns,
  collectRuns,
  type CollectedRuns,
  completePage,
  mergePages,
  type RunPage,
} from './run-listing.js';
import { type CreateSteps, RunOpener } from './run-opener.js';
import { type DefinitionOfTenant, firstNumberAfter, type RunQuery } from './run-query.js';
import {
  type BlackboardOptions,
  type BlackboardView,
  type EditableDefinition,
  showBlackboard,
  showDefinition,
  type WriteYaml,
} from './submission-view.js';
import { definitionOf, type DefinitionOfRun } from './whole-definition.js';

interface QueriedParts {
  readonly runs: RunIndex;
  readonly executor: LocalExecutor;
  readonly admission: Admission;
  readonly storeGuard: StoreGuard;
  readonly restoration: () => Restoration | undefined;
  /** Undefined without a store that has an archive. */
  readonly archived: ArchivedRuns | undefined;
  readonly limits: RetentionLimits;
  readonly clock: Clock;
  readonly memory: MemoryPool | undefined;
  readonly secrets: SecretSource | undefined;
}

/** Reads the runs of a registry, and changes none of them. */
export class RunQueries {
  /** Looks at the actors of runs, which settled ones need not have any more. */
  readonly actors: RunActors;
  readonly #parts: QueriedParts;
  readonly #runs: RunIndex;
  readonly #opener: RunOpener;

  constructor(parts: QueriedParts) {
    this.#parts = parts;
    this.#runs = parts.runs;
    this.#opener = new RunOpener(parts);
    this.actors = new RunActors(parts);
  }

  /** The runs that are still to be taken over from the store; undefined without a store, and until they are listed. */
  get restoration():
    | Pick<Restoration, 'whenRestored' | 'whenListable' | 'whenComplete' | 'isWaiting'>
    | undefined {
    return this.#parts.restoration();
  }

  /**
   * Makes a run readable until the returned function is called: one that waits in the store is restored, one that has settled
   * is read from there. Does nothing for a run that is not kept, or not of these tenants. Rejects with `not_ready`,
   * `memory_full` and `shutting_down`.
   *
   * @param tenants null for all
   * @param openSignal is called when the run has to be read: its signal says that the caller has gone
   */
  open(
    runId: string,
    tenants: readonly string[] | null,
    openSignal?: () => AbortSignal,
  ): Promise<() => void> {
    return this.#opener.open(runId, tenants, openSignal);
  }

  get load(): { readonly queued: number; readonly running: number } {
    return this.#parts.admission.load;
  }

  /** One page of the runs in memory, newest first. Throws `invalid_request` for a malformed cursor, and `shutting_down`. */
  list(query: RunQuery): RunPage {
    this.#assertListable();
    const collected = runToEnd(this.#collect(query));
    return this.#toPage(query, collected, { runs: [] });
  }

  /**
   * One page of runs, in turns with other requests: there may be a million runs. Those that have settled come from the archive
   * of the store, if there is one. Rejects as `list` throws.
   *
   * @param tenantId of the caller
   */
  async listInTurns(query: RunQuery, tenantId: string): Promise<RunPage> {
    this.#assertListable();
    const archive = this.#parts.archived?.archive;
    // Memory first: a run that settles meanwhile is in both, not in neither.
    const collected = await runInSlices(this.#collect(query), tenantId);
    const { counts } = collected;
    if (archive === undefined) return this.#toPage(query, collected, { runs: [] });
    const range = { before: firstNumberAfter(query), limit: query.limit + 1 };
    const [archived, ends, oldestAt] = await Promise.all([
      archive.page(query, range, tenantId),
      counts && archive.count(query, tenantId),
      counts && archive.oldest(query.tenants, tenantId),
    ]);
    return this.#toPage(query, ends ? addArchived(collected, ends, oldestAt) : collected, archived);
  }

  #collect(query: RunQuery): Steps<CollectedRuns> {
    const { admission } = this.#parts;
    return collectRuns(this.#runs.newestFirst(), query, (entry) => admission.waitOf(entry));
  }

  #toPage(query: RunQuery, collected: CollectedRuns, archived: ArchivePage): RunPage {
    const { admission, limits, restoration } = this.#parts;
    const page = mergePages(collected, archived, query.limit);
    const queue = collected.counts && admission.queueOf(query.tenants);
    const migrating = restoration()?.countMigrating(query.tenants) ?? 0;
    return completePage(page, collected, { queue, limits, migrating });
  }

  /**
   * A text that changes whenever a page may: with the runs that come, go and settle, with those that are running, and with the
   * queue if it is on the page. Takes no time for the others, of which there may be a million. Throws `shutting_down`.
   */
  listVersion({ tenants }: RunQuery): string {
    this.#assertListable();
    const { admission } = this.#parts;
    const seen = tenants && new Set(tenants);
    const running: string[] = [];
    for (const entry of admission.running) {
      if (seen === undefined || seen.has(entry.run.tenantId))
        running.push(entry.run.id, entry.versionWith(entry.run.waitingFor));
    }
    const migrating = this.#parts.restoration()?.countMigrating(tenants);
    return JSON.stringify([this.#runs.changesOf(tenants), running, admission.versionOf(tenants), migrating]);
  }

  /** Throws `shutting_down` when runs are left to the next process. */
  #assertListable(): void {
    if (this.#runs.leftRuns > 0) throw leftToNextProcess('the runs');
  }

  /**
   * The last runs of each of some pipelines and plans, the newest first, in their order; of one without runs, none.
   *
   * @param tenantId of the caller
   */
  async lastRuns(
    definitions: readonly DefinitionOfTenant[],
    most: number,
    tenantId: string,
  ): Promise<readonly (readonly RunSummary[])[]> {
    const steps = collectLastRuns(this.#runs.newestFirst(), definitions, most);
    const inMemory = await runInSlices(steps, tenantId);
    const archived = await this.#parts.archived?.archive.lastRuns(definitions, most, tenantId);
    return definitions.map((definition, index) => {
      const memory: readonly ListedRun[] = inMemory.get(definition) ?? [];
      return mergePages({ runs: memory }, { runs: archived?.[index] ?? [] }, most).runs;
    });
  }

  /** Counts the runs that have settled; without an archive, those that are kept. Rejects with `invalid_request`, `shutting_down`. */
  async statistics(request: StatisticsRequest, tenantId: string): Promise<StatisticsPage> {
    this.#assertListable();
    return readStatistics(request, tenantId, { ...this.#parts, archive: this.#parts.archived?.archive });
  }

  /** The number of kept runs per status; omits a status without runs. */
  async countByStatus(): Promise<ReadonlyMap<RunStatus, number>> {
    const counts = new Map(this.#runs.countByStatus());
    const ends = await this.#parts.archived?.archive.count({ limit: 1 }, '');
    for (const [status, count] of Object.entries(ends ?? {}) as [RunStatus, number][]) {
      if (count > 0) counts.set(status, (counts.get(status) ?? 0) + count);
    }
    return counts;
  }

  /**
   * Keeps the memory of a run counted until the returned function is called, even when the run is deleted or evicted
   * before. For responses that are sent from it bit by bit. Returns undefined when the run is not kept any more.
   */
  retain(runId: string): (() => void) | undefined {
    return this.#runs.get(runId)?.retain();
  }

  /** The current record of the run. Throws `run_not_found`. */
  record(runId: string): RunRecord {
    const entry = this.#runs.find(runId);
    return toRunRecord(entry.run, this.#parts.admission.waitOf(entry));
  }

  /**
   * Resolves with the record once the run has settled. Rejects with `run_not_found`, also when it is forgotten before, and
   * with `shutting_down` when it is left for the next process, or `not_ready` when its end cannot be kept.
   */
  async settled(runId: string): Promise<RunRecord> {
    const release = this.#runs.has(runId) ? NO_OP : await this.open(runId, null);
    try {
      return await this.#settled(this.#find(runId));
    } finally {
      release();
    }
  }

  async #settled(run: KnownRun): Promise<RunRecord> {
    const { id: runId } = run;
    await this.#parts.storeGuard.unlessFails(run.settled);
    if (this.#runs.has(runId)) assertNotLeft(run);
    if (run.status === 'queued' || run.status === 'running') throw runNotFound(runId);
    return toRunRecord(run);
  }

  /** Resolves when what can be seen of a run is kept, or the store has failed before. Rejects with `run_not_found`, `not_ready`. */
  async committed(runId: string): Promise<void> {
    const run = this.#find(runId);
    const { storeGuard } = this.#parts;
    if (!storeGuard.hasFailed) await storeGuard.unlessFails(run.committed());
  }

  /** Returns the response to the submission: the initial status, even if the run has started. Throws `run_not_found`. */
  accepted(runId: string): AcceptedRun {
    return { run_id: this.#find(runId).id, status: INITIAL_STATUS };
  }

  /** Returns the tenant of a run. Throws `run_not_found`. */
  tenantId(runId: string): string {
    return this.#find(runId).tenantId;
  }

  /** Says whether a run belongs to a pipeline or to a plan. Throws `run_not_found`. */
  kind(runId: string): ReadableRun['kind'] {
    return this.#find(runId).kind;
  }

  /** Returns a text that changes whenever the record does. Throws `run_not_found`. */
  version(runId: string): string {
    const entry = this.#runs.find(runId);
    return entry.versionWith(this.#parts.admission.waitOf(entry));
  }

  /** The last events of a run. Throws `run_not_found`. */
  events(runId: string): EventLog {
    return this.#runs.find(runId).log;
  }

  /**
   * One page of the tasks of a run, with their inputs, outputs and errors (D59). Rejects with `run_not_found`,
   * `task_not_found` for an unknown sub-pipeline, `invalid_request` for a malformed cursor, and `memory_full`.
   */
  tasks(runId: string, query: TaskQuery = {}): Promise<TaskPage> {
    return this.#opener.look(runId, (run, hold) => listTasks(run, query, hold));
  }

  /** One task of a run. Rejects as `tasks`. */
  task(runId: string, taskId: string, options: TaskOptions = {}): Promise<TaskRecord> {
    return this.#opener.look(runId, (run, hold) => getTask(run, taskId, options, hold));
  }

  /** One page of the items of a fan-out. Rejects as `tasks`. */
  items(runId: string, taskId: string, query: TaskQuery = {}): Promise<ItemPage> {
    return this.#opener.look(runId, (run, hold) => listItems(run, taskId, query, hold));
  }

  /**
   * Like `items`, of a run that need not be in memory: of a large one that has settled, only what the page needs is read,
   * for this caller alone. Rejects also as `open`, and with `run_not_found` for a run of other tenants.
   */
  readItems(
    runId: string,
    taskId: string,
    query: TaskQuery,
    tenants: readonly string[] | null,
    openSignal?: () => AbortSignal,
  ): Promise<ItemPage> {
    const list: CreateSteps<ItemPage> = (run, hold) => listItems(run, taskId, query, hold);
    return this.#opener.lookAtItems(runId, tenants, itemsOn(query, taskId), list, openSignal);
  }

  /** One item of a fan-out. Rejects as `tasks`. */
  item(runId: string, taskId: string, item: number, options: TaskOptions = {}): Promise<ItemRecord> {
    return this.#opener.look(runId, (run, hold) => getItem(run, taskId, item, options, hold));
  }

  /** Looks at the checked definition of a run, in turns with other requests. Rejects with `run_not_found`. */
  inspectDefinition<T>(runId: string, createSteps: (definition: DefinitionOfRun) => Steps<T>): Promise<T> {
    return this.#opener.look(runId, (run) => createSteps(definitionOf(run)));
  }

  /** Shows how a run was submitted, to change and rerun it (D59, D60). Rejects with `run_not_found`, `memory_full`. */
  definition(runId: string, writeYaml: WriteYaml): Promise<EditableDefinition> {
    return this.#opener.look(runId, (run, hold) => showDefinition(run, writeYaml, hold));
  }

  /** The session values with which a run began, and those that it has now (D59). Rejects as `definition`. */
  blackboard(runId: string, options: BlackboardOptions = {}): Promise<BlackboardView> {
    return this.#opener.look(runId, (run, hold) => showBlackboard(run, options, hold));
  }

  /** Why the task failed that failed a run; undefined when no task did. Throws `run_not_found`. */
  failure(runId: string): ErrorRecord | undefined {
    return findError(this.#find(runId));
  }

  /** The tasks and items that have failed, first the one that failed the run, with their values. Rejects as `tasks`. */
  failedCalls(runId: string, query: FailedCallsQuery): Promise<FailedCall[]> {
    return this.#opener.look(runId, (run, hold) => listFailedCalls(run, query, hold));
  }

  /** Resolves with what a rerun reuses and what it runs; with null when it is no longer kept. */
  async rerunReport(runId: string): Promise<RerunReport | null> {
    if (this.#runs.get(runId) === undefined) return null;
    return this.#opener.look(runId, (run) => describeRerun(run.prepared));
  }

  /**
   * Says what a rerun would reuse and what it would run, without running anything (D60). Rejects as `RunRegistry.rerun`
   * does before a run exists, but for `queue_full`.
   */
  previewRerun(runId: string, request: RerunRequest): Promise<RerunReport> {
    return this.#opener.look(runId, (run, hold) => previewRerun(run, request, this.#parts.secrets, hold));
  }

  /** The values with which the changed definition of a rerun is to be checked. Rejects with `run_not_found`. */
  rerunValues(runId: string, changes: RerunChanges): Promise<RerunValues> {
    return this.#opener.look(runId, (run) => mergeValues(run, changes));
  }

  /** The files of a run (D63). Throws `run_not_found`. */
  artifacts(runId: string): RunFiles {
    return new RunFiles(this.#find(runId), this.#parts.executor);
  }

  /** Opens the inspection of the actors of a run (D35). Rejects with `run_not_found` and `memory_full`. */
  async inspection(runId: string): Promise<OpenInspection> {
    const { clock, memory } = this.#parts;
    return this.#runs.find(runId).openInspection(clock, memory);
  }

  #find(runId: string): KnownRun {
    return this.#runs.find(runId).run;
  }
}

const NO_OP = (): void => {};
