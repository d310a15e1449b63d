import { type Clock, systemClock } from '../clock.js';
import type { AskingSteps } from './steps.js';

/** A stretch of work that holds the event loop for longer is an overrun: twice the slice that runs have in one turn of it. */
const OVERRUN_MS = 8;

/** The kinds of work that share the event loop, as the metrics name them. */
export const PLACES = [
  /** Runs that start and settle tasks. */
  'tasks',
  /** Outputs, inputs and other values that are copied, compared or listed. */
  'values',
  /** Definitions that are checked. */
  'definitions',
  /** Handlers of requests. */
  'requests',
  /** Bodies that are parsed. */
  'bodies',
  /** Responses that are written. */
  'responses',
  /** Outputs that the cache hashes, reads and writes. */
  'cache',
  /** Metrics that are read. */
  'metrics',
  /** The garbage collector, whose pauses count also where they happen. */
  'garbage_collection',
] as const;

export type Place = (typeof PLACES)[number];

interface Overruns {
  count: number;
  /** Since it was last taken. */
  longestMs: number;
}

/**
 * Counts the stretches of work that have held the event loop for too long, by place (D35). Work in slices looks
 * at the clock between its steps, so that a stretch is a step that was too long.
 */
export class EventLoopOverruns {
  readonly #clock: Pick<Clock, 'monotonicNow'>;
  readonly #byPlace = Object.fromEntries(
    PLACES.map((place) => [place, { count: 0, longestMs: 0 }]),
  ) as Readonly<Record<Place, Overruns>>;
  /** Time of all stretches that were measured. */
  #measuredMs = 0;

  constructor(clock: Pick<Clock, 'monotonicNow'> = systemClock) {
    this.#clock = clock;
  }

  /** Begins a stretch: pass what this returns to `end`. Time of stretches that end within it counts for their places. */
  begin(): number {
    return this.#clock.monotonicNow() - this.#measuredMs;
  }

  end(place: Place, begun: number): void {
    const ms = this.begin() - begun;
    this.#measuredMs += ms;
    this.add(place, ms);
  }

  /** Measures `work` as one stretch. Returns what it returns, and throws what it throws. */
  measure<T>(place: Place, work: () => T): T {
    const begun = this.begin();
    try {
      return work();
    } finally {
      this.end(place, begun);
    }
  }

  /** Counts a stretch that somebody else has measured, if it was too long. */
  add(place: Place, ms: number): void {
    if (ms <= OVERRUN_MS) return;
    const overruns = this.#byPlace[place];
    overruns.count++;
    overruns.longestMs = Math.max(overruns.longestMs, ms);
  }

  count(place: Place): number {
    return this.#byPlace[place].count;
  }

  /** The longest stretch since this was last called, in milliseconds; 0 when none was too long. */
  takeLongestMs(place: Place): number {
    const overruns = this.#byPlace[place];
    const { longestMs } = overruns;
    overruns.longestMs = 0;
    return longestMs;
  }
}

/** The overruns of this process; all servers share its event loop. */
export const eventLoopOverruns = new EventLoopOverruns();

/** Measures each step as one stretch. */
export function* measureSteps<T, Q, A>(
  steps: AskingSteps<T, Q, A>,
  place: Place,
  overruns = eventLoopOverruns,
): AskingSteps<T, Q, A> {
  let answer: A | undefined;
  for (;;) {
    const begun = overruns.begin();
    let step: IteratorResult<Q | undefined, T>;
    try {
      step = steps.next(answer);
    } finally {
      overruns.end(place, begun);
    }
    if (step.done === true) return step.value;
    answer = yield step.value;
  }
}
