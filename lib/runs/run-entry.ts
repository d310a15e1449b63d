import type { LiveEvent } from '../execution/events/event.js';
import type { AnyRun } from '../execution/local-executor.js';
import { EventLog } from './event-log.js';

/** The run that an event belongs to. */
export interface RunIdentity {
  readonly run_id: string;
  readonly tenant_id: string;
  readonly pipeline_id: string;
}

/** Receives every event of every run. */
export type RunEventListener = (event: LiveEvent, run: RunIdentity) => void;

/** What the registry keeps of a run: the run itself and its event log. */
export class RunEntry {
  readonly run: AnyRun;
  readonly log: EventLog;
  /** Approximate memory size of the submitted definition and values. */
  readonly admittedBytes: number;
  /** Counts submissions; orders the list of runs. */
  readonly sequence: number;

  constructor(run: AnyRun, sequence: number, eventBuffer: number) {
    this.run = run;
    this.sequence = sequence;
    this.admittedBytes = run.sizeBytes;
    this.log = new EventLog(eventBuffer);
    if (eventBuffer > 0) run.journal.subscribe((event) => this.log.append(event));
  }

  /** Attaches the listeners of this run and of all runs, then emits the event that the run is queued. */
  announce(onRunEvent?: (event: LiveEvent) => void, onAnyEvent?: RunEventListener): void {
    const { id, journal, definitionId, tenantId } = this.run;
    if (onRunEvent) journal.subscribe(onRunEvent);
    if (onAnyEvent) {
      const identity = { run_id: id, tenant_id: tenantId, pipeline_id: definitionId };
      journal.subscribe((event) => onAnyEvent(event, identity));
    }
    this.run.emitStatus();
  }

  /** Changes whenever the record does: built from every part of the record that changes. */
  get version(): string {
    const { status, isSettled, progress, failures, journal } = this.run;
    const { invocations, waves_executed, tasks_settled, sub_pipelines_settled = 0 } = progress;
    const counts = [invocations, waves_executed, tasks_settled, sub_pipelines_settled, failures.length];
    return [status, ...(isSettled ? ['settled'] : []), ...counts, journal.events?.length ?? 0].join('.');
  }
}
