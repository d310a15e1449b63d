import { ManualClock } from '../../support/manual-clock.js';

/** A clock on which a millisecond passes whenever somebody reads it: two readings are never the same. */
export class TickingClock extends ManualClock {
  #readings = 0;

  override now(): number {
    return super.now() + this.#readings++;
  }

  override monotonicNow(): number {
    return super.monotonicNow() + this.#readings++;
  }
}
