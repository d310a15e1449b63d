import type { SubPipelineStatus } from '../../machines/types.js';
import type { Clock } from '../common/clock.js';
import type { RunTrigger } from '../common/wire/started-by.js';
import { versionOfWait, type WaitingFor } from '../common/wire/run-summary.js';
import type { LiveEvent } from '../execution/events/event.js';
import type { FoldedRun } from '../execution/history/fold/folded-run.js';
import type { AnyRun } from '../execution/local-executor.js';
import type { BaseRun } from '../execution/run/base-run.js';
import type { ReadableRun } from '../execution/run/readable-run.js';
import type { SubPipelineStatuses } from '../execution/results.js';
import { EventLog } from './event-log.js';
import type { MemoryPool } from '../common/memory/memory-pool.js';
import { type OpenInspection, RunInspection } from './inspection/inspection.js';
import { RebuiltInspection } from './inspection/rebuilt-inspection.js';

/** The run that an event belongs to. */
export interface RunIdentity {
  readonly run_id: string;
  readonly tenant_id: string;
  readonly pipeline_id: string;
  /** The schedule or webhook that has started the run; null for a request, a person or a rerun. */
  readonly trigger: RunTrigger | null;
  /** The definition is one of the folder of the server. */
  readonly is_of_folder: boolean;
}

/** A run that has settled in this process. */
export type SettledRun = ReadableRun & Pick<BaseRun, 'isOfFolder' | 'isLeft'>;

/** Receives a run that has settled. */
export type SettledRunListener = (run: SettledRun) => void;

/** Receives every event of every run. */
export type RunEventListener = (event: LiveEvent, run: RunIdentity) => void;

/** Observes all runs. Must not throw. */
export interface RunObservers {
  readonly onEvent?: RunEventListener | undefined;
  /** Called when nothing of a run is at work any more. */
  readonly onSettled?: SettledRunListener | undefined;
}

/** A run that can be found: one with its actor, or a settled one that was folded from its facts (D74). */
export type KnownRun = AnyRun | FoldedRun;

/** A run as the registry keeps it: the run itself and its event log. */
export class RunEntry<R extends KnownRun = KnownRun> {
  readonly run: R;
  readonly log: EventLog;
  #rebuilt: RebuiltInspection | undefined;
  /** Number of responses that are being sent from the memory of the run. */
  #readers = 0;
  #isDropped = false;

  constructor(run: R, pastEvents: readonly LiveEvent[], eventBuffer: number) {
    this.run = run;
    this.log = new EventLog(eventBuffer, run.budget, eventBuffer === 0 ? [] : pastEvents);
  }

  /** The inspection of a run that somebody watches, or has watched; undefined when there is none. */
  protected findRecorded(_clock: Clock): RunInspection | undefined {
    return undefined;
  }

  /**
   * Opens the inspection: what was recorded, or else what can be made of the events of the run. The run is kept until it is
   * closed. Rejects with `memory_full`.
   */
  async openInspection(clock: Clock, memory: MemoryPool | undefined): Promise<OpenInspection> {
    const release = this.retain();
    try {
      const recorded = this.#rebuilt === undefined ? this.findRecorded(clock) : undefined;
      const inspection = recorded ?? (this.#rebuilt ??= new RebuiltInspection(this, clock, memory));
      const view = await inspection.open();
      const close = (): void => {
        view.close();
        release();
      };
      return { log: view.log, origin: view.origin, close };
    } catch (error) {
      release();
      throw error;
    }
  }

  get isBeingRead(): boolean {
    return this.#readers > 0;
  }

  /** Keeps the memory counted until the returned function is called, even when the run is dropped before. */
  retain(): () => void {
    let isReading = true;
    this.#readers++;
    return () => {
      if (!isReading) return;
      isReading = false;
      this.#readers--;
      this.#freeMemory();
    };
  }

  /** Call when nobody can find the run any more: its memory no longer counts. */
  drop(): void {
    this.#isDropped = true;
    this.#rebuilt?.forget();
    this.#freeMemory();
  }

  #freeMemory(): void {
    if (this.#isDropped && this.#readers === 0) this.run.budget.close();
  }

  /** Changes whenever the record does: built from every part of the record that changes. @param waitingFor what the run waits for */
  versionWith(waitingFor: WaitingFor | null): string {
    const { status, isSettled, isPaused, progress, failures, journal, artifacts } = this.run;
    const { invocations, waves_executed, tasks_settled, sub_pipelines_settled = 0 } = progress;
    const counts = [invocations, waves_executed, tasks_settled, sub_pipelines_settled, failures.length];
    if (artifacts.length > 0) counts.push(artifacts.length);
    const { subPipelines } = this.run;
    if (subPipelines !== null) counts.push(sumStages(subPipelines));
    return [
      status,
      ...(isSettled ? ['settled'] : []),
      ...(isPaused ? ['paused'] : []),
      ...counts,
      journal.events?.length ?? 0,
      ...(waitingFor === null ? [] : [versionOfWait(waitingFor)]),
    ].join('.');
  }
}

/** A run of this process, with its actor. */
export class LiveRunEntry extends RunEntry<AnyRun> {
  /** Counts submissions; orders the list of runs. */
  readonly sequence: number;
  #inspection: RunInspection | undefined;
  /** The last status that another process has written. */
  readonly #lastStatus: LiveEvent | undefined;
  #clearPauseTimer: (() => void) | undefined;

  constructor(run: AnyRun, sequence: number, eventBuffer: number) {
    const pastEvents = run.takePastEvents();
    super(run, pastEvents, eventBuffer);
    this.sequence = sequence;
    this.#lastStatus = pastEvents.findLast(({ kind }) => kind === 'run');
    if (eventBuffer === 0) return;
    run.journal.subscribe((event) => {
      const committed = run.committed();
      // A client that has read an event may ask for those after it, also from another process (D68).
      if (committed === undefined) this.log.append(event);
      else void committed.then(() => this.log.append(event));
    });
  }

  /** Attaches the listeners of this run and of all runs, then emits the event that the run is queued. */
  announce(onRunEvent: ((event: LiveEvent) => void) | undefined, { onEvent, onSettled }: RunObservers): void {
    const { id, journal, definitionId, tenantId, settled } = this.run;
    if (onRunEvent) journal.subscribe(onRunEvent);
    if (onEvent) {
      const { trigger, isOfFolder } = this.run;
      const of = { run_id: id, tenant_id: tenantId, pipeline_id: definitionId };
      const identity = { ...of, trigger, is_of_folder: isOfFolder };
      journal.subscribe((event) => onEvent(event, identity));
    }
    if (onSettled) void settled.then(() => onSettled(this.run));
    this.run.emitStatus();
  }

  /** Cancels the run when it has paused for too long: it holds its place among the running ones, and its memory. */
  limitPauses(clock: Clock, timeoutMs: number | undefined): void {
    const { run } = this;
    if (timeoutMs === undefined || !run.mayPause) return;
    const onEvent = (event: LiveEvent): void => {
      if (event.kind !== 'run') return;
      this.#clearPauseTimer?.();
      this.#clearPauseTimer = undefined;
      if (event.paused !== true) return;
      const timer = clock.setTimeout(() => run.cancel(false), timeoutMs);
      this.#clearPauseTimer = () => clock.clearTimeout(timer);
    };
    // A run that another process has left paused does not say so again.
    if (this.#lastStatus !== undefined) onEvent(this.#lastStatus);
    run.journal.subscribe(onEvent);
  }

  /** Returns the inspection that all viewers share, created when the first one looks: most runs have none. */
  inspection(clock: Clock): RunInspection {
    return (this.#inspection ??= new RunInspection(this.run, clock));
  }

  protected override findRecorded(clock: Clock): RunInspection | undefined {
    const inspection = this.inspection(clock);
    return inspection.hasEntries ? inspection : undefined;
  }

  /** Call when the run is left to the next process. */
  leave(): void {
    this.#clearPauseTimer?.();
    this.run.stop();
  }

  override drop(): void {
    this.#clearPauseTimer?.();
    super.drop();
  }
}

/** A sub-pipeline only goes from stage to stage, so the sum grows whenever a status changes. */
function sumStages(subPipelines: SubPipelineStatuses): number {
  let sum = 0;
  for (const status of Object.values(subPipelines))
    sum += status === null ? 0 : (STAGES[status] ?? LAST_STAGE);
  return sum;
}

const STAGES: Partial<Record<SubPipelineStatus, number>> = { queued: 1, running: 2 };
const LAST_STAGE = 3;
