import type { Clock } from '../../common/clock.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import { warnListenerRemoved } from '../../common/warnings.js';
import type { AnyRun } from '../../execution/local-executor.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import type { InspectionOrigin } from './entry.js';
import { InspectionLog } from './inspection-log.js';
import { Recorder } from './recorder.js';
import { SettledActors } from './settled-actors.js';

/** The entries of one run, as one viewer reads them. */
export interface OpenInspection {
  readonly log: InspectionLog;
  readonly origin: InspectionOrigin;
  readonly close: () => void;
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
  /** Set while the run is recorded. */
  #detach: (() => void) | undefined;
  /** Resolves when every actor that existed has an entry. */
  #attached: Promise<void> = Promise.resolve();
  #timer: unknown;
  /** The run has settled while nobody recorded it; its end is being written. */
  #isConcluding = false;
  #hasFailed = false;
  /** Until when the run was recorded before; actors that had settled by then have their entries. */
  #recordedUntil: number | undefined;

  constructor(run: AnyRun, clock: Clock) {
    this.#run = run;
    this.#clock = clock;
    this.log = new InspectionLog(run.budget);
    void run.settled.then(() => this.#onSettled());
  }

  /** True when there is anything to show: recorded entries, or a run at work. */
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
    if (this.#detach === undefined && !this.log.isClosed && !this.#isConcluding) {
      if (this.#run.isSettled) this.#conclude();
      else this.#attach();
    }
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      if (--this.#viewers === 0 && this.#detach !== undefined) this.#linger();
    };
    return { log: this.log, origin: 'live', close };
  }

  #createRecorder(): Recorder {
    const run = this.#run;
    const { secrets } = run.prepared;
    return new Recorder({
      rootName: run.kind === 'plan' ? 'plan' : 'run',
      now: () => run.journal.timeline.now(),
      mask: (text) => secrets.mask(text),
      write: (entry) => this.log.write(entry),
    });
  }

  #attach(): void {
    const run = this.#run;
    const recorder = this.#createRecorder();
    const attached = run.inspect((event) => {
      try {
        recorder.receive(event);
      } catch (thrown) {
        this.#onFailure(thrown);
      }
    });
    // The run has ended and will settle soon.
    if (attached === undefined) return;
    const { root, detach } = attached;
    const settled = new SettledActors(run, this.#recordedUntil);
    this.#recorder = recorder;
    this.#detach = detach;
    this.#attached = runInSlices(recorder.attach(root, settled), run.tenantId).catch((thrown: unknown) => {
      this.#onFailure(thrown);
    });
  }

  /** A run must not depend on who observes it. */
  #onFailure(thrown: unknown): void {
    this.#hasFailed = true;
    this.#stop();
    warnListenerRemoved(`the recorder of run ${this.#run.id}`, thrown);
  }

  #onSettled(): void {
    const recorder = this.#recorder;
    this.#stop();
    if (recorder !== undefined) {
      recorder.finish();
      this.log.close();
    } else if (this.#viewers > 0) this.#conclude();
  }

  /** Writes what has become of the actors since recording stopped: those who look again would find them at work for ever. */
  #conclude(): void {
    if (this.#hasFailed) return this.log.close();
    this.#isConcluding = true;
    const settled = new SettledActors(this.#run, this.#recordedUntil);
    this.#attached = runInSlices(this.#createRecorder().conclude(settled), this.#run.tenantId)
      .catch((thrown: unknown) => this.#onFailure(thrown))
      .then(() => this.log.close());
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
