import type { LiveEvent } from '../../../lib/execution/events/event.js';

type Unstamped<E> = E extends unknown ? Omit<E, 'seq' | 'time' | 'run_id'> : never;

/** An event as a spec tells it. */
export type Told = Unstamped<LiveEvent>;

/** The same with a number and a time. */
export function entry(told: Told): LiveEvent {
  const stamp = { seq: 1, time: '2026-01-01T12:34:56.789Z', run_id: 'r1' };
  return { ...stamp, ...told };
}
