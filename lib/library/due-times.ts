import type { Steps } from '../common/steps.js';
import type { ScheduleTimes } from '../definition/schedule/cron.js';

/** The times of a schedule in a span. */
export interface DueTimes {
  /** The last of them; undefined when there is none. */
  readonly latest: number | undefined;
  /** How many there are, up to {@link MAX_COUNTED}. */
  readonly count: number;
}

/** Counting all times of a year that a machine was off would take seconds. */
export const MAX_COUNTED = 100;

/** The times after one moment and up to another, both in milliseconds since 1970, UTC. */
export function* findDueTimes(times: ScheduleTimes, afterMs: number, untilMs: number): Steps<DueTimes> {
  let latest: number | undefined;
  let count = 0;
  for (let next = times.next(afterMs); next !== undefined && next <= untilMs; next = times.next(next)) {
    yield;
    latest = next;
    if (++count === MAX_COUNTED) return { latest: yield* findLatest(times, latest, untilMs), count };
  }
  return { latest, count };
}

/** The last time up to a moment: looks back further and further for one from which it can be counted. */
function* findLatest(times: ScheduleTimes, knownMs: number, untilMs: number): Steps<number> {
  let first: number | undefined;
  for (let spanMs = 60_000; first === undefined; spanMs *= 2) {
    yield;
    const from = untilMs - spanMs;
    if (from <= knownMs) first = knownMs;
    else {
      const next = times.next(from);
      if (next !== undefined && next <= untilMs) first = next;
    }
  }
  let latest = first;
  for (let next = times.next(latest); next !== undefined && next <= untilMs; next = times.next(latest)) {
    yield;
    latest = next;
  }
  return latest;
}
