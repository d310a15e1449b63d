import type { Clock, Timeline } from '../../../common/clock.js';
import type { Duration } from '../../../common/duration.js';
import { readTimeLimit, type TimeLimit } from '../../../definition/run-fields/time-limit.js';
import { timeoutKey } from '../../history/replay.js';
import { type PlacedHistory, whenAtRest } from '../../history/run-history.js';

/** The part of a run that its timeout reads, and ends. */
interface LimitedRun {
  readonly isSettled: boolean;
  readonly isPaused: boolean;
  /** Aborts what is at work; the run fails. */
  timeOut(): void;
}

/**
 * The time limit of a whole run (D81). Its time begins when the run does, and stands still while the run waits at a
 * breakpoint for a person. It is measured on the timeline of the run: after a restart, the time since the run began counts,
 * and so does the time in which no process was at work on it.
 */
export class RunTimeout {
  readonly #limit: TimeLimit;
  readonly #clock: Clock;
  readonly #timeline: Timeline;
  readonly #history: PlacedHistory | undefined;
  #run: LimitedRun | undefined;
  /** The time until the last pause, in milliseconds. */
  #spentMs = 0;
  /** When the time went on last; undefined while it stands still. */
  #resumedAt: number | undefined;
  #timer: unknown;
  /** True while the facts of another process are replayed: those say whether the time was over. */
  #isReplaying = false;

  /** Returns undefined for a definition without a timeout. */
  static of(
    timeout: Duration | undefined,
    clock: Clock,
    timeline: Timeline,
    history: PlacedHistory | undefined,
  ): RunTimeout | undefined {
    const limit = readTimeLimit(timeout);
    return limit && new RunTimeout(limit, clock, timeline, history);
  }

  private constructor(
    limit: TimeLimit,
    clock: Clock,
    timeline: Timeline,
    history: PlacedHistory | undefined,
  ) {
    this.#limit = limit;
    this.#clock = clock;
    this.#timeline = timeline;
    this.#history = history;
  }

  /** The error of a run whose time was over. */
  get error(): string {
    return `the run took longer than its timeout of ${this.#limit.text}`;
  }

  /** Call when the run begins. */
  begin(run: LimitedRun): void {
    this.#run = run;
    this.#resumedAt = this.#timeline.now();
    const replay = this.#history?.replay;
    if (replay === undefined) return this.#startTimer();
    this.#isReplaying = true;
    const key = this.#key;
    replay.expect(key, {
      onFact: () => {
        replay.settle(key);
        run.timeOut();
      },
      onEnd: () => this.#goOn(),
    });
  }

  /** Call when the run may have paused, or may have gone on after a pause. */
  update(): void {
    if (this.#run === undefined || this.#run.isPaused === (this.#resumedAt === undefined)) return;
    if (this.#resumedAt === undefined) {
      this.#resumedAt = this.#timeline.now();
      if (!this.#isReplaying) this.#startTimer();
    } else {
      this.#spentMs += this.#timeline.now() - this.#resumedAt;
      this.#resumedAt = undefined;
      this.#clock.clearTimeout(this.#timer);
    }
  }

  /** Call when the run has ended, or was stopped. */
  stop(): void {
    this.#run = undefined;
    this.#clock.clearTimeout(this.#timer);
    this.#history?.replay?.settle(this.#key);
  }

  get #key(): string {
    return timeoutKey(this.#history?.place ?? '');
  }

  get #remainingMs(): number {
    const now = this.#resumedAt === undefined ? 0 : this.#timeline.now() - this.#resumedAt;
    return this.#limit.ms - this.#spentMs - now;
  }

  #startTimer(): void {
    this.#timer = this.#clock.setTimeout(() => this.#onTimer(), Math.max(0, this.#remainingMs));
  }

  #onTimer(): void {
    // A timer has a longest delay, and may be early by a part of a millisecond.
    if (this.#remainingMs > 0) this.#startTimer();
    else whenAtRest(this.#history, () => this.#end());
  }

  #end(): void {
    const run = this.#run;
    // The run may have ended or paused before it was at rest.
    if (run === undefined || run.isSettled || this.#resumedAt === undefined) return;
    this.#history?.note({ kind: 'timeout' });
    run.timeOut();
  }

  /** Goes on after the last fact. Ends a run whose time is over before any of its calls is made again. */
  #goOn(): void {
    this.#isReplaying = false;
    if (this.#run === undefined || this.#resumedAt === undefined) return;
    if (this.#history?.run.hasSettled === true) return;
    if (this.#remainingMs > 0) return this.#startTimer();
    this.#history?.run.past.facts.addTimeout(this.#history.place);
    this.#end();
  }
}
