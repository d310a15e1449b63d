import { ScheduleTimes } from '../../definition/triggers/cron.js';
import type { Schedule } from '../../definition/triggers/start.js';
import type { LastDue } from '../named-pipeline.js';
import type { KeptSchedule } from './schedule-file.js';

const SHOWN_TIMES = 3;

/** How far a schedule of the folder has come. Times are in milliseconds since 1970, UTC. */
export class ActiveSchedule {
  readonly tenantId: string;
  readonly id: string;
  schedule: Schedule;
  times: ScheduleTimes;
  /** Up to here, every time has been looked at. */
  handledAt: number;
  nextDue: number | undefined;
  last: LastDue | null;
  runId: string | null;
  /** The time whose run waits to be started: later times are skipped until it has. */
  waiting: number | null;
  /** The end of the last run of the definition that has succeeded. */
  succeededAt: number | null;
  isBusy = false;
  /** Changes with the times of the schedule. */
  #signature: string;
  /** The first time since the last run was started that has started none. */
  #lateSince: number | null;
  /** The next times, until the first of them has come. */
  #shown: readonly number[] = [];

  /** @param kept of another process, perhaps of another schedule */
  constructor(
    { tenantId, id }: Pick<ActiveSchedule, 'tenantId' | 'id'>,
    schedule: Schedule,
    now: number,
    kept: KeptSchedule | undefined,
  ) {
    this.tenantId = tenantId;
    this.id = id;
    this.schedule = schedule;
    this.#signature = toSignature(schedule);
    this.times = toTimes(schedule);
    const same = kept?.schedule === this.#signature ? kept : undefined;
    this.handledAt = same?.handled_at ?? now;
    this.nextDue = this.times.next(this.handledAt);
    this.last = kept?.last ?? null;
    this.runId = kept?.run_id ?? null;
    this.waiting = same?.waiting ?? null;
    this.succeededAt = kept?.succeeded_at ?? null;
    const hasStarted = same?.last == null || same.last.outcome === 'started';
    this.#lateSince = hasStarted ? null : Date.parse(same.last.due_at);
  }

  /** Takes over the schedule as it is now. The times that it would have had before now were never due. */
  change(schedule: Schedule, now: number): void {
    const signature = toSignature(schedule);
    this.schedule = schedule;
    if (signature === this.#signature) return;
    this.#signature = signature;
    this.times = toTimes(schedule);
    this.handledAt = Math.max(this.handledAt, now);
    this.nextDue = this.times.next(this.handledAt);
    this.#lateSince = null;
    this.#shown = [];
  }

  /** The next times at which it is due. */
  nextTimes(now: number): readonly number[] {
    const [first] = this.#shown;
    if (first !== undefined && first > now && first === this.nextDue) return this.#shown;
    const times: number[] = [];
    let next = this.nextDue ?? this.times.next(now);
    while (next !== undefined && times.length < SHOWN_TIMES) {
      times.push(next);
      next = this.times.next(next);
    }
    return (this.#shown = times);
  }

  /** Notes what has become of a time. */
  end(last: LastDue): void {
    this.last = last;
    if (last.outcome === 'started') this.#lateSince = null;
    else this.#lateSince ??= Date.parse(last.due_at);
  }

  /** Milliseconds since the first time that was due and has started no run; 0 when there is none, and while it is paused. */
  lateMs(now: number): number {
    if (this.schedule.isPaused) return 0;
    return Math.max(0, now - Math.min(this.#lateSince ?? now, this.nextDue ?? now));
  }

  /** Names the definition in the log. */
  get place(): object {
    return { tenant: this.tenantId, pipeline: this.id };
  }

  toKept(): KeptSchedule {
    return {
      tenant_id: this.tenantId,
      id: this.id,
      schedule: this.#signature,
      handled_at: this.handledAt,
      last: this.last,
      run_id: this.runId,
      waiting: this.waiting,
      succeeded_at: this.succeededAt,
    };
  }
}

/** Of another signature, other times were due. */
function toSignature({ cron, timezone, isPaused }: Schedule): string {
  return JSON.stringify([cron, timezone, ...(isPaused ? ['paused'] : [])]);
}

function toTimes({ cron, timezone, isPaused }: Schedule): ScheduleTimes {
  return new ScheduleTimes(isPaused ? [] : cron, timezone);
}
