import { STATUS_AT_SUBMISSION } from '../../machines/status.js';
import type { RunStatus } from '../../machines/types.js';
import { type Clock, systemClock } from '../common/clock.js';
import { LocalExecutor, noRun } from '../execution/local-executor.js';
import { tenantOf } from '../execution/prepare/prepare.js';
import type { PlanInputs, RunInputs } from '../execution/run-inputs.js';
import { Admission } from './admission.js';
import { Entry } from './entry.js';
import type { EventLog } from './event-log.js';
import { freeTurn } from './fair-turn.js';
import { type IdempotencyKey, Submissions } from './idempotency.js';
import { pageOf, type RunPage, type RunQuery, statusesOf } from './listing.js';
import { type Acceptance, recordOf, type RunRecord } from './record.js';
import { ANY_NUMBER, KEEP_ALL, type RegistryOptions, type Submission } from './registry-options.js';
import { type Accept, mustBeSettled, onceMore } from './rerun.js';
import { Retention } from './retention.js';

export type { RegistryOptions, RunFacts, Submission } from './registry-options.js';

/** Runs by id: the one door to them for the command line and the API (law L2). */
export class RunRegistry {
  readonly #entries = new Map<string, Entry>();
  readonly #submissions = new Submissions();
  readonly #executor: LocalExecutor;
  readonly #admission: Admission;
  readonly #retention: Retention;
  readonly #options: RegistryOptions;
  readonly #clock: Clock;
  #count = 0;

  constructor(options: RegistryOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#executor = new LocalExecutor(options);
    this.#admission = new Admission(options.admission ?? ANY_NUMBER);
    this.#retention = new Retention(options.retention ?? KEEP_ALL, this.#clock, (runId) => this.#drop(runId));
  }

  /**
   * Accepts a run and answers its id; it begins when there is a place for it (D25). With a key that was used before
   * it is the id of that run (D36). Rejects before there is a run: `invalid_params`, `invalid_inputs`,
   * `invalid_options`, `queue_full`, `shutting_down` or `idempotency_conflict`.
   */
  async submit(run: RunInputs, submission: Submission = {}): Promise<string> {
    return this.#submit(run, submission, (weigh) => this.#executor.accept(run, undefined, weigh));
  }

  /** The same for a plan: a run like any other (D35). */
  async submitPlan(run: PlanInputs, submission: Submission = {}): Promise<string> {
    return this.#submit(run, submission, (weigh) => this.#executor.acceptPlan(run, undefined, weigh));
  }

  /** To be awaited before work that many callers may ask for at once. */
  readonly turn = freeTurn;

  /** The run that was submitted with this key before. Throws `idempotency_conflict`. */
  submitted(tenantId: string, idempotency: IdempotencyKey): string | undefined {
    this.#retention.sweep();
    return this.#submissions.find(tenantId, idempotency);
  }

  /**
   * Runs a settled run once more, reusing outputs as `from` says (D35), and answers the id of the new one.
   * Rejects with `run_not_found`, `run_not_settled`, `nothing_to_rerun`, `invalid_request` and as `submit` does.
   */
  async rerun(runId: string, from?: string): Promise<string> {
    return this.#accept({}, onceMore(this.#executor, this.#entry(runId).run, from));
  }

  /** What is answered to a submission, whatever the run has become since. Throws `run_not_found`. */
  acceptance(runId: string): Acceptance {
    return { run_id: this.#entry(runId).run.id, status: STATUS_AT_SUBMISSION };
  }

  /** The run as it is now. Throws `run_not_found`. */
  record(runId: string): RunRecord {
    return recordOf(this.#entry(runId).run);
  }

  /** Whose run it is. Throws `run_not_found`. */
  tenantOf(runId: string): string {
    return this.#entry(runId).tenantId;
  }

  /** A text that changes whenever the record does. Throws `run_not_found`. */
  version(runId: string): string {
    return this.#entry(runId).version;
  }

  /** One page of runs, newest first. Throws `invalid_request` for a bad cursor. */
  list(query: RunQuery): RunPage {
    this.#retention.sweep();
    return pageOf([...this.#entries.values()], query);
  }

  /** The last events of a run. Throws `run_not_found`. */
  events(runId: string): EventLog {
    return this.#entry(runId).log;
  }

  /** The tree of actors behind a run, as JSON. Throws `run_not_found`. */
  snapshot(runId: string): unknown {
    return this.#entry(runId).run.tree();
  }

  /**
   * The run once nothing of it is at work any more. Rejects with `run_not_found`, also when the run was forgotten
   * before it was over.
   */
  async settled(runId: string): Promise<RunRecord> {
    const { run } = this.#entry(runId);
    await run.settled;
    if (run.status === 'queued' || run.status === 'running') throw noRun(runId);
    return recordOf(run);
  }

  /** Cancels (rule 12, D21) and answers the record. Rejects with `run_not_found` or `run_already_terminal`. */
  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<RunRecord> {
    const { run } = this.#entry(runId);
    await this.#executor.cancel(runId, options);
    return recordOf(run);
  }

  /** Drops a settled run. Throws `run_not_found` or `run_not_settled`. */
  remove(runId: string): void {
    mustBeSettled(this.#entry(runId).run);
    this.forget(runId);
  }

  /** Drops a run; one that is still at work is stopped. */
  forget(runId: string): void {
    this.#retention.release(runId);
    this.#drop(runId);
  }

  /** How many runs wait and how many are at work. */
  get load(): { readonly queued: number; readonly running: number } {
    return { queued: this.#admission.queued, running: this.#admission.running };
  }

  /** How many of the runs that are kept have each status. */
  statuses(): ReadonlyMap<RunStatus, number> {
    this.#retention.sweep();
    return statusesOf(this.#entries.values());
  }

  /**
   * Takes no more runs and cancels those that wait. Those at work have `graceMs` to settle, then their tools are
   * told to stop. Fulfilled when nothing is at work any more.
   */
  async close(graceMs: number): Promise<void> {
    await settleWithin(graceMs, this.#admission.close(), this.#clock);
  }

  #submit(run: Pick<RunInputs, 'tenant_id'>, submission: Submission, accept: Accept): string {
    const { idempotency } = submission;
    const earlier = idempotency && this.submitted(tenantOf(run), idempotency);
    return earlier ?? this.#accept(submission, accept);
  }

  #accept(submission: Submission, accept: Accept): string {
    this.#retention.sweep();
    this.#admission.check();
    const run = accept((bytes) => this.#admission.weigh(bytes));
    const entry = new Entry(run, ++this.#count, this.#options.eventBuffer ?? 0);
    this.#entries.set(run.id, entry);
    if (submission.idempotency) this.#submissions.note(entry.tenantId, submission.idempotency, run.id);
    void run.settled.then(() => this.#ended(entry));
    entry.tell(submission.onEvent, this.#options.onEvent);
    this.#admission.admit(entry);
    return run.id;
  }

  /** The one place that learns of the end of a run, whichever way it came. */
  #ended(entry: Entry): void {
    entry.log.close();
    this.#admission.release(entry);
    if (this.#entries.has(entry.run.id)) this.#retention.keep(entry.run.id, entry.log, entry.run.weight);
  }

  #drop(runId: string): void {
    const entry = this.#entries.get(runId);
    if (entry === undefined) return;
    this.#entries.delete(runId);
    this.#submissions.forget(runId);
    this.#executor.forget(runId);
  }

  #entry(runId: string): Entry {
    this.#retention.sweep();
    const entry = this.#entries.get(runId);
    if (entry === undefined) throw noRun(runId);
    return entry;
  }
}

/** Cancels the runs that wait, and gives those at work `graceMs` to settle; then their tools are told to stop. */
async function settleWithin(
  graceMs: number,
  { waiting, running }: { readonly waiting: readonly Entry[]; readonly running: readonly Entry[] },
  clock: Clock,
): Promise<void> {
  for (const { run } of waiting) run.cancel(false);
  const timer = clock.setTimeout(() => {
    for (const { run } of running) run.cancel(true);
  }, graceMs);
  await Promise.all(running.map(({ run }) => run.settled));
  clock.clearTimeout(timer);
}
