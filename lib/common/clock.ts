/** The source of time, passed as a parameter (law L5), so that specs can control it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. Steps forwards or back when the time of the machine is set. */
  now(): number;
  /** Milliseconds since some moment, with fractions. Never goes back: durations and deadlines are measured with it. */
  monotonicNow(): number;
  setTimeout(run: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** A clock that a host passes to the library, perhaps without the monotonic time. */
export type HostClock = Omit<Clock, 'monotonicNow'> & Partial<Pick<Clock, 'monotonicNow'>>;

/** Resolves after a delay. Rejects with the reason of the signal as soon as it is aborted. */
export async function delay(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = clock.setTimeout(finish, ms);
    signal?.addEventListener('abort', finish);
  });
  signal?.throwIfAborted();
}

/** The longest delay of a Node.js timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimeout: (run, delayMs) => setTimeout(run, Math.min(delayMs, MAX_TIMER_MS)),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Adds the monotonic time to a clock without one: the time of the clock, held while the clock goes back. */
export function completeClock(clock: HostClock = systemClock): Clock {
  if (hasMonotonicTime(clock)) return clock;
  let latestMs = Number.NEGATIVE_INFINITY;
  return {
    now: () => clock.now(),
    monotonicNow: () => (latestMs = Math.max(latestMs, clock.now())),
    setTimeout: (run, delayMs) => clock.setTimeout(run, delayMs),
    clearTimeout: (timer) => clock.clearTimeout(timer),
  };
}

function hasMonotonicTime(clock: HostClock): clock is Clock {
  return clock.monotonicNow !== undefined;
}

/**
 * The times of one run: one time of the clock, to which the monotonic time that has passed since is added. So they never
 * go back, and their differences are durations, even when the clock is set while the run is at work (D27).
 */
export class Timeline {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #monotonicStartMs: number;
  /** The last result of `now`: reading the clock takes as long as the rest of a short step. */
  latest: number;

  /** @param startMs the time now, in milliseconds since 1970, UTC */
  constructor(clock: Clock, startMs = clock.now()) {
    this.#clock = clock;
    this.#startMs = startMs;
    this.#monotonicStartMs = clock.monotonicNow();
    this.latest = startMs;
  }

  /** Milliseconds since 1970, UTC, without fractions. */
  now(): number {
    this.latest = this.#startMs + Math.floor(this.#clock.monotonicNow() - this.#monotonicStartMs);
    return this.latest;
  }
}

let cachedMs = Number.NaN;
let cachedText = '';

/** Formats a time as ISO 8601 in UTC (D27). Formatting takes long and many events share a millisecond: it is cached. */
export function toIsoTime(ms: number): string {
  if (ms !== cachedMs) {
    cachedText = new Date(ms).toISOString();
    cachedMs = ms;
  }
  return cachedText;
}

/** A date, a time of day and a zone. */
const ISO_TIME = /^\d{4}-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Reads a time in ISO 8601 with its zone, in milliseconds since 1970. Returns undefined for anything else. */
export function parseIsoTime(text: string): number | undefined {
  const [time = '', month, day] = ISO_TIME.exec(text) ?? [];
  const ms = Date.parse(time);
  // JavaScript reads February 30 as March 2.
  const midnight = new Date(`${time.slice(0, 10)}T00:00:00Z`);
  const exists =
    !Number.isNaN(ms) &&
    midnight.getUTCMonth() + 1 === Number(month) &&
    midnight.getUTCDate() === Number(day);
  return exists ? ms : undefined;
}
