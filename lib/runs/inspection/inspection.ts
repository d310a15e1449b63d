import type { Clock } from '../../common/clock.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import { warnListenerRemoved } from '../../common/warnings.js';
import type { AnyRun } from '../../execution/local-executor.js';
import { runInTurns } from '../fair-yield.js';
import type { InspectionOrigin } from './entry.js';
import { InspectionLog } from './inspection-log.js';
import { Recorder } from './recorder.js';
import { SettledActors } from './settled-actors.js';

/** The entries of one run, as one viewer reads them. */
export interface OpenInspection {
  readonly log: InspectionLog;
  readonly origin: InspectionOrigin;
  /** Call when the viewer has left. */
  close(): void;
}

/**
 * Records a run for all its viewers together, from the first of them on until some time after the last has left. A run that
 * nobody views costs nothing.
 */
export class RunInspection {
  /** Kept with the run, also when nobody views it any more. */
  readonly log: InspectionLog;
  readonly #run: AnyRun;
  readonly #clock: Clock;
  #viewers = 0;
  #recorder: Recorder | undefined;
  /** Set while it records. */
  #detach: (() => void) | undefined;
  /** Resolves when every actor that existed has an entry. */
  #attached: Promise<void> = Promise.resolve();
  #timer: unknown;
  /** Until when it was recorded before; what has settled by then has its entries. */
  #recordedUntil: number | undefined;

  constructor(run: AnyRun, clock: Clock) {
    this.#run = run;
    this.#clock = clock;
    this.log = new InspectionLog(run.budget);
  }

  /** Whether there is anything to show: recorded entries, or a run at work. */
  get hasEntries(): boolean {
    return this.log.lastSeq > 0 || !this.#run.isSettled;
  }

  /** Adds a viewer. Resolves when each actor of the run has an entry, which is at once for a run that has not begun. */
  async open(): Promise<OpenInspection> {
    const view = this.openNow();
    await this.#attached;
    return view;
  }

  /** Like `open`, for a viewer who reads the log as it grows. */
  openNow(): OpenInspection {
    this.#viewers++;
    this.#clock.clearTimeout(this.#timer);
    if (this.#detach === undefined && !this.log.isClosed) this.#attach();
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      if (--this.#viewers === 0 && this.#detach !== undefined) this.#linger();
    };
    return { log: this.log, origin: 'live', close };
  }

  #attach(): void {
    const run = this.#run;
    const { secrets } = run.prepared;
    const recorder = new Recorder({
      rootName: run.kind === 'plan' ? 'plan' : 'run',
      now: () => run.journal.timeline.now(),
      mask: (text) => secrets.mask(text),
      write: (entry) => this.log.append(entry),
    });
    this.#recorder = recorder;
    const attached = run.inspect((event) => {
      try {
        recorder.receive(event);
      } catch (thrown) {
        // A run must not depend on who observes it.
        this.#stop();
        warnListenerRemoved(`the recorder of run ${run.id}`, thrown);
      }
    });
    if (attached === undefined) return this.log.close();
    const { root, detach } = attached;
    const settled = new SettledActors(run, this.#recordedUntil);
    this.#detach = detach;
    this.#attached = runInTurns(recorder.attach(root, settled), run.tenantId).catch((thrown: unknown) => {
      this.#stop();
      warnListenerRemoved(`the recorder of run ${run.id}`, thrown);
    });
    void run.settled.then(() => {
      if (this.#recorder === recorder) recorder.finish();
      this.#stop();
      this.log.close();
    });
  }

  #linger(): void {
    this.#timer = this.#clock.setTimeout(() => this.#stop(), INSPECTION_LIMITS.lingerMs);
  }

  #stop(): void {
    this.#clock.clearTimeout(this.#timer);
    if (this.#detach !== undefined) this.#recordedUntil = this.#run.journal.timeline.now();
    this.#detach?.();
    this.#detach = undefined;
    this.#recorder = undefined;
  }
}
