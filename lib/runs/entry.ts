import type { LocalRun } from '../execution/local-run.js';
import { EventLog } from './event-log.js';

/** A run as the registry keeps it. */
export class Entry {
  readonly run: LocalRun;
  readonly log: EventLog;
  /** Counts submissions: the order of the list. */
  readonly number: number;

  constructor(run: LocalRun, number: number, eventBuffer: number) {
    this.run = run;
    this.number = number;
    this.log = new EventLog(eventBuffer);
    if (eventBuffer > 0) run.journal.listen((event) => this.log.append(event));
  }

  get tenantId(): string {
    return this.run.prepared.tenantId;
  }

  /** Changes whenever the record does: made of everything in it that moves, whoever listens. */
  get version(): string {
    const { status, isSettled, invocations, wavesExecuted, work, journal } = this.run;
    const counts = [invocations, wavesExecuted, work.tasksSettled, work.failures.length];
    return [status, ...(isSettled ? ['settled'] : []), ...counts, journal.events?.length ?? 0].join('.');
  }
}
