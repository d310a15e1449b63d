import type { Clock } from '../../common/clock.js';

/** The time limit of one attempt (D19). Its time does not run while the tool waits for its turn (rule 13). */
export class AttemptTimeout {
  readonly #clock: Clock;
  readonly #onTimeout: () => void;
  #remainingMs: number;
  #resumedMs = 0;
  #timer: unknown;
  #pauses = 0;
  #isStopped = false;

  constructor(clock: Clock, limitMs: number, onTimeout: () => void) {
    this.#clock = clock;
    this.#remainingMs = limitMs;
    this.#onTimeout = onTimeout;
    this.#run();
  }

  /** Pauses until the returned function is called; of several pauses, until the last one is over. */
  pause(): () => void {
    if (this.#pauses === 0) this.#halt();
    this.#pauses++;
    let isPaused = true;
    return () => {
      if (!isPaused) return;
      isPaused = false;
      this.#pauses--;
      if (this.#pauses === 0 && !this.#isStopped) this.#run();
    };
  }

  /** Ends the limit with its attempt. */
  stop(): void {
    this.#isStopped = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #run(): void {
    this.#resumedMs = this.#clock.monotonicNow();
    this.#timer = this.#clock.setTimeout(this.#onTimeout, this.#remainingMs);
  }

  #halt(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#remainingMs -= this.#clock.monotonicNow() - this.#resumedMs;
  }
}
