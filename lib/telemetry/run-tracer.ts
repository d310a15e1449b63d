import type { Clock } from '../common/clock.js';
import type { AttemptObserver } from '../execution/attempt-observer.js';
import type { LiveEvent } from '../execution/event.js';
import type { RunFacts } from '../runs/registry.js';
import { RunSpans } from './run-spans.js';
import type { Spans } from './spans.js';

const NOT_TRACED = (): void => {};

/** Makes a trace of every run out of what it tells, and keeps nothing of a run that is over. */
export class RunTracer {
  readonly #spans: Spans;
  readonly #clock: Clock;
  readonly #runs = new Map<string, RunSpans>();

  constructor(spans: Spans, clock: Clock) {
    this.#spans = spans;
    this.#clock = clock;
  }

  /** Runs that are not over. */
  get size(): number {
    return this.#runs.size;
  }

  readonly onEvent = (event: LiveEvent, run: RunFacts): void => {
    const timeMs = Date.parse(event.time);
    const spans = this.#runs.get(run.run_id) ?? this.#begin(event, run, timeMs);
    if (spans?.hear(event, timeMs)) this.#runs.delete(run.run_id);
  };

  readonly onAttempt: AttemptObserver = (attempt) => {
    const ended = this.#runs.get(attempt.run_id)?.attempt(attempt, this.#clock.now());
    return ended === undefined ? NOT_TRACED : (error) => ended(this.#clock.now(), error);
  };

  /** Ends the spans of runs that are still at work. */
  close(): void {
    this.#runs.clear();
    this.#spans.endAll(this.#clock.now());
  }

  /** Only its first event begins a run: a tool may have a last word when its run is over. */
  #begin(event: LiveEvent, run: RunFacts, timeMs: number): RunSpans | undefined {
    if (event.kind !== 'run' || event.seq !== 1) return undefined;
    const spans = new RunSpans(this.#spans, run, timeMs);
    this.#runs.set(run.run_id, spans);
    return spans;
  }
}
