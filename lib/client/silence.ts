import type { Clock } from '../common/clock.js';

/** The server says something every 15 seconds; who has not heard it three times has lost it. */
const LONGEST_SILENCE_MS = 45_000;

/** Ends a connection on which nothing comes any more: not every one that broke says so. */
export class Silence {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #timer: unknown;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.heard();
  }

  /** Given when it has been silent too long, or when {@link end} was called. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something was heard. */
  heard(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => this.#give('nothing was heard of it'), LONGEST_SILENCE_MS);
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#give('nobody listens any more');
  }

  #give(reason: string): void {
    this.#controller.abort(new Error(reason));
  }
}
