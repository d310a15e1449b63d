import { errorCode } from '../../common/errors.js';
import type { RunRecord } from '../../runs/record.js';
import type { ProcessEvents, RunDoor } from '../context.js';
import { wavesThatFinish } from '../render/run-summary.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const SECOND = 'stopping at once';

/** The run that Ctrl-C is about. */
export interface InterruptedRun {
  readonly runId: string;
  /** Waves of several sub-pipelines may be at work at once (D45). */
  readonly hasSeveralWaves: boolean;
}

/**
 * Ctrl-C while a run lasts: the first cancels cooperatively (rule 12), the second stops the tools in flight and
 * does not wait for them (D21, D40). SIGTERM counts like Ctrl-C.
 */
export class Interrupts {
  /** The record of a run that was stopped at once; pending for ever otherwise. */
  readonly stopped: Promise<RunRecord>;
  readonly #registry: RunDoor;
  readonly #runId: string;
  readonly #several: boolean;
  readonly #say: (line: string) => void;
  readonly #events: ProcessEvents;
  #stop: (record: RunRecord | Promise<RunRecord>) => void = () => undefined;
  #count = 0;

  constructor(
    registry: RunDoor,
    { runId, hasSeveralWaves }: InterruptedRun,
    events: ProcessEvents,
    say: (line: string) => void,
  ) {
    this.#registry = registry;
    this.#runId = runId;
    this.#several = hasSeveralWaves;
    this.#events = events;
    this.#say = say;
    this.stopped = new Promise((resolve) => {
      this.#stop = resolve;
    });
    for (const signal of SIGNALS) events.on(signal, this.#onSignal);
  }

  close(): void {
    for (const signal of SIGNALS) this.#events.off(signal, this.#onSignal);
  }

  readonly #onSignal = (): void => {
    this.#count += 1;
    if (this.#count === 1) {
      this.#say(`cancelling: ${wavesThatFinish(this.#several)} first; Ctrl-C again stops at once`);
      void this.#cancel(false);
    } else if (this.#count === 2) {
      this.#say(SECOND);
      void this.#cancel(true).then((record) => record && this.#stop(record));
    }
  };

  /** A run that ended in the meantime needs no cancelling: its own end is told. */
  async #cancel(force: boolean): Promise<RunRecord | undefined> {
    try {
      return await this.#registry.cancel(this.#runId, { force });
    } catch (error) {
      if (errorCode(error) === 'run_already_terminal') return undefined;
      throw error;
    }
  }
}
