import type { LiveEvent } from '../../../lib/execution/events/event.js';

type Unstamped<E> = E extends unknown ? Omit<E, 'seq' | 'time' | 'run_id'> : never;

/** An event without the fields that the journal adds. */
export type UnstampedEvent = Unstamped<LiveEvent>;

/** Adds a number, a time and a run id. */
export function stamp(event: UnstampedEvent): LiveEvent {
  return { seq: 1, time: '2026-01-01T12:34:56.789Z', run_id: 'r1', ...event };
}
