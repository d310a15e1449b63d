import { type Clock, toIsoTime } from '../../common/clock.js';
import { errorMessage, RunBusyError, WavetrainError } from '../../common/errors.js';
import { readSchedule, type Schedule } from '../../definition/triggers/start.js';
import type { RunRegistry } from '../../runs/registry.js';
import type { SettledRun } from '../../runs/run-entry.js';
import type { Submitter } from '../../submission/submitter.js';
import type { RunTrigger } from '../../common/wire/started-by.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { ActiveSchedule } from './active-schedule.js';
import { findDueTimes, formatMissed } from './due-times.js';
import type { PipelineLibrary } from '../library.js';
import { ROOT_TENANT } from '../list-files.js';
import type { LastDue, ShownSchedule } from '../named-pipeline.js';
import { type FolderEntry, toEntryKey } from '../folder-entries.js';
import type { LibraryLog } from '../pipeline-folder.js';
import { type KeptSchedule, ScheduleFile } from './schedule-file.js';

/** The wall clock is looked at so often at least: it may be set, and a machine may sleep. */
const CHECK_MS = 30_000;

/** A time that is noticed within so long is not missed. */
const GRACE_MS = 120_000;

/** A wall clock that goes back further is not waited for. */
const MAX_BACK_MS = 3_600_000;

export interface SchedulerOptions {
  readonly library: PipelineLibrary;
  readonly registry: Pick<RunRegistry, 'queries' | 'stepRunner'>;
  readonly submitter: Pick<Submitter, 'submitOnce'>;
  readonly clock: Clock;
  readonly log: LibraryLog;
  /** Counts a run that was not made because others of its definition are at work (D81). */
  readonly onSkipped: (by: RunTrigger) => void;
  /** Receives how each time has ended at which a schedule was due, for the audit (D95). */
  readonly onEnd?: ((tenantId: string, id: string, end: LastDue) => void) | undefined;
  /** Keeps how far each schedule has come; undefined: that ends with the process, as the runs do. */
  readonly file?: string | undefined;
}

type FinishedRun = Pick<
  SettledRun,
  'tenantId' | 'definitionId' | 'isOfFolder' | 'status' | 'finishedAt' | 'trigger'
>;

/**
 * Starts the definitions of the folder when they are due (D70). A run has a key made of the time at which it was due, so that
 * no time starts two, whatever the clock does, and whenever the process ends.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #active = new Map<string, ActiveSchedule>();
  readonly #file: ScheduleFile | undefined;
  /** Of another process. */
  #kept = new Map<string, KeptSchedule>();
  #timer: unknown;
  #isAtWork = false;
  #isClosed = false;
  #following: Promise<void> = Promise.resolve();
  readonly #handling = new Set<Promise<void>>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const { file, log } = options;
    this.#file = file === undefined ? undefined : new ScheduleFile(file, log, () => this.#collectKept());
  }

  get count(): number {
    return this.#active.size;
  }

  /** Begins, when the runs of the store are there. Rejects with `bad_usage` when what was kept cannot be read. */
  async start(): Promise<void> {
    const { library, file } = this.#options;
    const kept = file === undefined ? [] : await ScheduleFile.read(file);
    this.#kept = new Map(kept.map((each) => [toEntryKey(each.tenant_id, each.id), each]));
    await library.loaded;
    if (this.#isClosed) return;
    this.#isAtWork = true;
    library.onChange(() => void this.#follow());
    await this.#follow();
    // A schedule that has left the folder begins anew when it returns.
    this.#kept.clear();
  }

  readonly show = (entry: FolderEntry): ShownSchedule | null => {
    const schedule = entry.good && readSchedule(entry.good.definition);
    if (schedule === undefined) return null;
    const active = this.#active.get(toEntryKey(entry.listed.tenantId, entry.id));
    const now = this.#options.clock.now();
    return {
      cron: schedule.cron,
      timezone: schedule.timezone,
      overlap: schedule.overlap,
      catch_up: schedule.catchUp,
      paused: schedule.isPaused,
      next_runs: active === undefined || schedule.isPaused ? [] : active.nextTimes(now).map(toIsoTime),
      last: active?.last ?? null,
    };
  };

  /** How late each schedule is, and when its definition has last succeeded. */
  *measure(): Iterable<
    Pick<ActiveSchedule, 'tenantId' | 'id' | 'succeededAt'> & { readonly lateMs: number }
  > {
    const now = this.#options.clock.now();
    for (const active of this.#active.values()) {
      const { tenantId, id, succeededAt } = active;
      yield { tenantId, id, succeededAt, lateMs: active.lateMs(now) };
    }
  }

  /** Notes the success of a definition with a schedule, whatever has started the run. */
  onSettled({ tenantId, definitionId, isOfFolder, status, finishedAt, trigger }: FinishedRun): void {
    if (status !== 'succeeded' || !isOfFolder) return;
    const active = this.#active.get(toEntryKey(tenantId, definitionId));
    if (active === undefined) return;
    active.succeededAt = finishedAt;
    // Callers may start so many others that the file would be written again and again: those are kept with the next time.
    if (trigger === 'schedule') this.#file?.save();
  }

  /** Resolves when no schedule is being looked at, and how far they have come is kept. */
  async idle(): Promise<void> {
    while (this.#handling.size > 0) await Promise.all(this.#handling);
    await this.#file?.idle();
  }

  /** Starts nothing any more. Resolves when what was started is kept. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isAtWork = false;
    this.#options.clock.clearTimeout(this.#timer);
    await this.idle();
  }

  /** Takes over the schedules of the folder as they are now, after those that it had before. */
  #follow(): Promise<void> {
    const { registry } = this.#options;
    this.#following = this.#following.then(async () => {
      if (this.#isAtWork) await registry.stepRunner.run(this.#takeAll(), ROOT_TENANT);
      // Otherwise the next process would take the times of a pause that is over for missed ones.
      if (this.#isAtWork) this.#file?.save();
      this.#look();
    });
    return this.#following;
  }

  /** Computing when a schedule is due next takes a while: that of very many must not hold the event loop. */
  *#takeAll(): Steps<void> {
    const seen = new Set<string>();
    for (const entry of this.#options.library.entries) {
      const schedule = entry.good && readSchedule(entry.good.definition);
      if (schedule === undefined) continue;
      const key = toEntryKey(entry.listed.tenantId, entry.id);
      seen.add(key);
      this.#take(key, entry, schedule);
      yield;
    }
    for (const key of this.#active.keys()) if (!seen.has(key)) this.#active.delete(key);
  }

  #take(key: string, { id, listed: { tenantId } }: FolderEntry, schedule: Schedule): void {
    const now = this.#options.clock.now();
    const active = this.#active.get(key);
    if (active !== undefined) return active.change(schedule, now);
    this.#active.set(key, new ActiveSchedule({ tenantId, id }, schedule, now, this.#kept.get(key)));
  }

  /** Looks at every schedule, and again when the next one is due. */
  #look(): void {
    if (!this.#isAtWork) return;
    const now = this.#options.clock.now();
    for (const active of this.#active.values()) {
      this.#followClock(active, now);
      const { nextDue = Number.POSITIVE_INFINITY, waiting, isBusy } = active;
      if (isBusy || (nextDue > now && waiting === null)) continue;
      const handled = this.#handle(active, now).finally(() => this.#handling.delete(handled));
      this.#handling.add(handled);
    }
    this.#arm();
  }

  #arm(): void {
    if (!this.#isAtWork) return;
    const { clock } = this.#options;
    const now = clock.now();
    let delayMs = CHECK_MS;
    for (const { nextDue = now } of this.#active.values()) {
      if (nextDue > now) delayMs = Math.min(delayMs, nextDue - now);
    }
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => this.#look(), delayMs);
  }

  /** A clock that was far ahead would keep a schedule from starting anything until then. */
  #followClock(active: ActiveSchedule, now: number): void {
    if (active.handledAt - now <= MAX_BACK_MS) return;
    const message = 'the clock was set back: the schedule goes on from the time that it shows';
    this.#options.log.warn(active.place, message);
    active.handledAt = now;
    active.nextDue = active.times.next(now);
  }

  async #handle(active: ActiveSchedule, now: number): Promise<void> {
    active.isBusy = true;
    try {
      // The time that waits came first: it must not be asked for again by what makes a later one wait.
      if (active.waiting !== null) await this.#startWaiting(active);
      if (active.nextDue !== undefined && active.nextDue <= now) await this.#handleDue(active, now);
    } catch (error) {
      this.#options.log.warn(active.place, `a schedule could not be looked at: ${errorMessage(error)}`);
    } finally {
      active.isBusy = false;
      this.#file?.save();
      this.#arm();
    }
  }

  async #handleDue(active: ActiveSchedule, now: number): Promise<void> {
    const { registry, log } = this.#options;
    const { times, handledAt, schedule } = active;
    const steps = findDueTimes(times, handledAt, now);
    const { latest, count, next } = await registry.stepRunner.run(steps, active.tenantId);
    // The schedule may have been changed or removed, or the server may be closing.
    if (latest === undefined || active.times !== times || !this.#isCurrent(active)) return;
    active.handledAt = latest;
    active.nextDue = next;
    const isInTime = now - latest <= GRACE_MS;
    const missed = isInTime ? count - 1 : count;
    if (missed > 0) {
      log.warn({ ...active.place, missed }, `a schedule has missed ${formatMissed(missed)}`);
    }
    if (isInTime) {
      const earlier = `${formatMissed(missed)} before were missed`;
      return this.#start(active, latest, missed === 0 ? {} : { reason: earlier, missed });
    }
    const reason = `the server was not at work, or its clock was set: ${formatMissed(missed)} missed`;
    if (schedule.catchUp) return this.#start(active, latest, { reason: `made up for: ${reason}`, missed });
    active.end({ due_at: toIsoTime(latest), run_id: null, outcome: 'missed', reason, missed });
  }

  /** Starts the run of a time, unless another one waits, or the one before is still at work. */
  async #start(active: ActiveSchedule, due: number, more: Pick<LastDue, 'reason' | 'missed'>): Promise<void> {
    const { runId, waiting, schedule } = active;
    if (waiting !== null) {
      const reason = `the run of ${toIsoTime(waiting)} still waits`;
      return this.#end(active, due, { outcome: 'skipped', reason });
    }
    if (schedule.overlap === 'allow' || runId === null || this.#hasSettled(runId)) {
      return this.#submit(active, due, more);
    }
    const reason = `run ${runId} has not settled yet`;
    if (schedule.overlap === 'skip') return this.#end(active, due, { outcome: 'skipped', reason });
    active.waiting = due;
    this.#end(active, due, { outcome: 'queued', reason });
    const look = (): void => this.#look();
    void this.#options.registry.queries.settled(runId).then(look, look);
  }

  /** The waiting time goes on waiting while the last run is at work, or the queue of the server is full. */
  async #startWaiting(active: ActiveSchedule): Promise<void> {
    const { waiting, runId, schedule } = active;
    if (waiting === null || !this.#isCurrent(active)) return;
    if (schedule.isPaused) {
      active.waiting = null;
      return this.#end(active, waiting, { outcome: 'skipped', reason: PAUSED_BEFORE });
    }
    if (schedule.overlap !== 'allow' && runId !== null && !this.#hasSettled(runId)) return;
    await this.#submit(active, waiting, {});
  }

  async #submit(
    active: ActiveSchedule,
    due: number,
    more: Pick<LastDue, 'reason' | 'missed'>,
  ): Promise<void> {
    const { library, submitter } = this.#options;
    const { tenantId, id } = active;
    // No header has a line break, so that no caller can take this key.
    const key = { key: `schedule\n${id}\n${toIsoTime(due)}`, fingerprint: 'schedule' };
    try {
      const entry = await library.entry(tenantId, id);
      const start = { trigger: 'schedule', startedBy: { kind: 'schedule', name: id } } as const;
      const read = () => ({ ...library.toSubmission(entry), ...start });
      const { run_id } = await submitter.submitOnce(tenantId, key, read);
      active.runId = run_id;
      active.waiting = null;
      this.#end(active, due, { outcome: 'started', run_id, ...more });
    } catch (error) {
      const code = error instanceof WavetrainError ? error.code : 'internal';
      if (code === 'shutting_down' || code === 'not_ready') {
        // The next process starts the run.
        if (active.waiting === null) active.handledAt = Math.min(active.handledAt, due - 1);
        return;
      }
      const reason = errorMessage(error);
      if (error instanceof RunBusyError) {
        active.waiting = null;
        this.#options.onSkipped('schedule');
        return this.#end(active, due, { outcome: 'skipped', reason });
      }
      if (code !== 'queue_full' && code !== 'memory_full') {
        active.waiting = null;
        this.#end(active, due, { outcome: 'failed', reason });
      } else if (active.waiting === null) {
        active.waiting = due;
        this.#end(active, due, { outcome: 'queued', reason });
      }
    }
  }

  #end(active: ActiveSchedule, due: number, end: Partial<LastDue> & Pick<LastDue, 'outcome'>): void {
    const { log } = this.#options;
    const { outcome, run_id = null, reason } = end;
    const last = { ...end, due_at: toIsoTime(due), run_id };
    active.end(last);
    this.#options.onEnd?.(active.tenantId, active.id, last);
    const facts = { ...active.place, due_at: toIsoTime(due), ...(run_id !== null && { run_id }) };
    if (outcome === 'started' && reason === undefined) log.info(facts, 'a schedule has started a run');
    else if (outcome === 'failed') log.warn(facts, `a schedule could start no run: ${reason}`);
    else log.info(facts, `a schedule: ${outcome}: ${reason}`);
  }

  #isCurrent(active: ActiveSchedule): boolean {
    return this.#isAtWork && this.#active.get(toEntryKey(active.tenantId, active.id)) === active;
  }

  #hasSettled(runId: string): boolean {
    try {
      const { queries } = this.#options.registry;
      return queries.restoration?.isWaiting(runId) !== true && queries.record(runId).settled;
    } catch (error) {
      // The run is not kept any more.
      if (error instanceof WavetrainError) return true;
      throw error;
    }
  }

  *#collectKept(): Iterable<KeptSchedule> {
    for (const active of this.#active.values()) yield active.toKept();
  }
}

const PAUSED_BEFORE = 'the schedule was paused before its run began';
