import { WavetrainError } from '../../errors.js';
import type { ProcessEvents } from '../context.js';

/**
 * Notices a run that can never settle: a tool waits for something, and nothing is left in the process that could
 * bring it. The process would end without a word; this ends with one.
 */
export class Stall {
  /** Rejects when the run can never settle; pending for ever otherwise. */
  readonly noticed: Promise<never>;
  readonly #events: ProcessEvents;
  #notice: (error: WavetrainError) => void = () => undefined;

  constructor(events: ProcessEvents) {
    this.#events = events;
    this.noticed = new Promise<never>((_, reject) => {
      this.#notice = reject;
    });
    events.on('beforeExit', this.#onBeforeExit);
  }

  close(): void {
    this.#events.off('beforeExit', this.#onBeforeExit);
  }

  readonly #onBeforeExit = (): void => {
    this.#notice(
      new WavetrainError(
        'task_failed',
        'the run can never settle: a tool waits for what nothing is left to bring',
        {
          fault: 'tool',
        },
      ),
    );
  };
}
