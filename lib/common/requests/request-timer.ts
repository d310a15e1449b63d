import type { Clock } from '../clock.js';
import { ToolError } from '../errors.js';

/** Milliseconds. */
interface TimeLimits {
  /** For the whole answer. */
  readonly totalMs: number;
  /** For which nothing may arrive. Default: as long as the whole may take. */
  readonly idleMs?: number;
}

/**
 * The time limits of one request: of all of it, and of the silence between two parts of the answer. Its signal aborts
 * when either has passed, or when the attempt ends; the reason is a ToolError that says which limit.
 */
export class RequestTimer {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #attemptSignal: AbortSignal;
  readonly #onAttemptEnd = (): void => this.#controller.abort(this.#attemptSignal.reason);
  readonly #totalTimer: unknown;
  #idleTimer: unknown;
  #touchedMs: number;

  constructor(clock: Clock, { totalMs, idleMs }: TimeLimits, attemptSignal: AbortSignal) {
    this.#clock = clock;
    this.#attemptSignal = attemptSignal;
    this.#touchedMs = clock.monotonicNow();
    attemptSignal.addEventListener('abort', this.#onAttemptEnd);
    if (attemptSignal.aborted) this.#onAttemptEnd();
    this.#totalTimer = clock.setTimeout(() => {
      this.#abort(`no complete answer within ${totalMs / 1000} s`);
    }, totalMs);
    if (idleMs !== undefined) this.#watchSilence(idleMs, idleMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Call when something has arrived. */
  touch(): void {
    this.#touchedMs = this.#clock.monotonicNow();
  }

  /** Call when the request has ended. */
  stop(): void {
    this.#attemptSignal.removeEventListener('abort', this.#onAttemptEnd);
    this.#clock.clearTimeout(this.#totalTimer);
    this.#clock.clearTimeout(this.#idleTimer);
  }

  #watchSilence(idleMs: number, delayMs: number): void {
    this.#idleTimer = this.#clock.setTimeout(() => {
      const leftMs = this.#touchedMs + idleMs - this.#clock.monotonicNow();
      if (leftMs > 0) this.#watchSilence(idleMs, leftMs);
      else this.#abort(`nothing arrived for ${idleMs / 1000} s`);
    }, delayMs);
  }

  #abort(reason: string): void {
    this.#controller.abort(new ToolError(reason));
  }
}

/**
 * Settles with the work, or rejects with the reason of the signal as soon as it aborts: not all that is waited for ends
 * with a signal, such as the start of a program, and a server may never answer, even a request that was cancelled.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      const { reason }: { reason?: unknown } = signal;
      reject(reason instanceof Error ? reason : new ToolError('stopped'));
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
