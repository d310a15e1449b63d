import type { Clock } from '../../common/clock.js';
import type { LiveEvent } from '../../execution/event.js';

/** Time as the events of a server tell it: those that are told late took no longer for it. */
export class ServerClock implements Clock {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It is now the time of an event, and goes on from there. */
  hear({ time }: LiveEvent): void {
    this.#aheadMs = Date.parse(time) - this.#clock.now();
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    return this.#clock.setTimeout(run, delayMs);
  }

  clearTimeout(timer: unknown): void {
    this.#clock.clearTimeout(timer);
  }
}
