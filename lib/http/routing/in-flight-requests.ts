import type { Clock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';

/** The work of a server for clients besides runs. While the server shuts down, none begins, but begun work may end. */
export class InFlightRequests {
  readonly #clock: Clock;
  readonly #atWork = new Set<AbortController>();
  #isClosed = false;
  #noteEnd: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws WavetrainError `shutting_down` after {@link close} was called */
  assertOpen(): void {
    if (this.#isClosed) throw shuttingDown();
  }

  /**
   * Does the work, which must end when the signal that it is given aborts: with the client's, or when the time for
   * shutting down is over.
   *
   * @param signal aborts when the client leaves
   * @throws WavetrainError `shutting_down` when the work may not begin, or was ended by the server
   */
  async run<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.assertOpen();
    const controller = new AbortController();
    const leave = (): void => controller.abort(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave);
    this.#atWork.add(controller);
    try {
      return await work(controller.signal);
    } catch (error) {
      throw controller.signal.aborted && !signal.aborted ? shuttingDown() : error;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#atWork.delete(controller);
      if (this.#atWork.size === 0) this.#noteEnd();
    }
  }

  /** Lets no more work begin, and ends what is at work after `graceMs`. Resolves when all has ended. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    if (this.#atWork.size === 0) return;
    const timer = this.#clock.setTimeout(() => {
      for (const controller of this.#atWork) controller.abort(shuttingDown());
    }, graceMs);
    await new Promise<void>((resolve) => {
      this.#noteEnd = resolve;
    });
    this.#clock.clearTimeout(timer);
  }
}

function shuttingDown(): WavetrainError {
  return new WavetrainError('shutting_down', 'the server is shutting down', { fault: 'service' });
}
