import type { Steps } from '../../common/scheduling/steps.js';
import type { ScheduleTimes } from '../../definition/triggers/cron.js';

export interface DueTimes {
  /** The last of them; undefined when there is none. */
  readonly latest: number | undefined;
  /** How many there are, up to {@link MAX_COUNTED}. */
  readonly count: number;
  /** The first one after the span; undefined when there is none. */
  readonly next: number | undefined;
}

/** Counting all times of a year that a machine was off would take seconds. */
export const MAX_COUNTED = 100;

/** The times after one moment and up to another, both in milliseconds since 1970, UTC. */
export function* findDueTimes(times: ScheduleTimes, afterMs: number, untilMs: number): Steps<DueTimes> {
  let latest: number | undefined;
  let count = 0;
  let next = times.next(afterMs);
  while (next !== undefined && next <= untilMs) {
    yield;
    latest = next;
    count = Math.min(count + 1, MAX_COUNTED);
    next = times.next(count === MAX_COUNTED ? yield* comeCloser(times, latest, untilMs) : latest);
  }
  return { latest, count, next };
}

/** A moment after which few times are left: that of one of them, or else the last that is known. */
function* comeCloser(times: ScheduleTimes, knownMs: number, untilMs: number): Steps<number> {
  for (let spanMs = 60_000; ; spanMs *= 2) {
    yield;
    const from = untilMs - spanMs;
    if (from <= knownMs) return knownMs;
    const next = times.next(from);
    // The next time is looked at again, and counts as the last if none follows.
    if (next !== undefined && next <= untilMs) return next - 1;
  }
}

/** Says how many times were missed. @param count as in {@link DueTimes} */
export function formatMissed(count: number): string {
  if (count >= MAX_COUNTED) return `${MAX_COUNTED} times or more`;
  return count === 1 ? 'one time' : `${count} times`;
}
