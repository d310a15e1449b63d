import type { AnyRun } from '../execution/local-executor.js';
import { EventLog } from './event-log.js';
import type { RegistryOptions, Submission } from './registry-options.js';

/** A run as the registry keeps it. */
export class Entry {
  readonly run: AnyRun;
  readonly log: EventLog;
  /** What the run was given takes in memory, in bytes, roughly. */
  readonly admittedBytes: number;
  /** Counts submissions: the order of the list. */
  readonly number: number;

  constructor(run: AnyRun, number: number, eventBuffer: number) {
    this.run = run;
    this.number = number;
    this.admittedBytes = run.weight;
    this.log = new EventLog(eventBuffer);
    if (eventBuffer > 0) run.journal.listen((event) => this.log.append(event));
  }

  /** Tells those who want to hear of the run that it is queued, and of all that follows. */
  tell(own: Submission['onEvent'], common: RegistryOptions['onEvent']): void {
    const { id, journal, definitionId } = this.run;
    if (own) journal.listen(own);
    if (common) {
      const facts = { run_id: id, tenant_id: this.tenantId, pipeline_id: definitionId };
      journal.listen((event) => common(event, facts));
    }
    this.run.announce();
  }

  get tenantId(): string {
    return this.run.tenantId;
  }

  /** Changes whenever the record does: made of everything in it that moves, whoever listens. */
  get version(): string {
    const { status, isSettled, progress, failures, journal } = this.run;
    const { invocations, waves_executed, tasks_settled, sub_pipelines_settled = 0 } = progress;
    const counts = [invocations, waves_executed, tasks_settled, sub_pipelines_settled, failures.length];
    return [status, ...(isSettled ? ['settled'] : []), ...counts, journal.events?.length ?? 0].join('.');
  }
}
