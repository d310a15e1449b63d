import type { FailedResult } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import { ToolError } from '../../common/errors.js';
import type { InvocationServices } from '../run-context.js';
import {
  type AbortableCall,
  type Call,
  type CallListener,
  type CallOutput,
  CallRelay,
  InnerCall,
  type Layer,
  type MakeCall,
} from './call.js';

/** The time limit of one attempt (D19). Its time does not run while the tool waits for its turn (rule 13). */
class TimeLimit {
  readonly #clock: Clock;
  readonly #onTimeout: () => void;
  #remainingMs: number;
  #resumedMs = 0;
  #timer: unknown;
  #pauses = 0;
  #isStopped = false;

  constructor(clock: Clock, limitMs: number, onTimeout: () => void) {
    this.#clock = clock;
    this.#remainingMs = limitMs;
    this.#onTimeout = onTimeout;
    this.#run();
  }

  /** Pauses until the returned function is called; of several pauses, until the last one is over. */
  pause(): () => void {
    if (this.#pauses === 0) this.#halt();
    this.#pauses++;
    let isPaused = true;
    return () => {
      if (!isPaused) return;
      isPaused = false;
      this.#pauses--;
      if (this.#pauses === 0 && !this.#isStopped) this.#run();
    };
  }

  /** Ends the limit with its attempt. */
  stop(): void {
    this.#isStopped = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #run(): void {
    this.#resumedMs = this.#clock.monotonicNow();
    this.#timer = this.#clock.setTimeout(this.#onTimeout, this.#remainingMs);
  }

  #halt(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#remainingMs -= this.#clock.monotonicNow() - this.#resumedMs;
  }
}

/** An attempt that is aborted, and fails, when its time is over. */
class TimedAttempt extends CallRelay implements AbortableCall {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #attempt = new InnerCall();
  #limit: TimeLimit | undefined;
  #isOver = false;

  constructor(clock: Clock, limitMs: number, listener: CallListener) {
    super(listener);
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  start(call: Call, next: MakeCall): this {
    this.#attempt.make(next, call, this);
    return this;
  }

  abort(error?: ToolError): void {
    this.#attempt.abort(error);
  }

  /** The time begins when the tool is called. */
  override onCall(call: Call): Promise<void> | undefined {
    const noted = this.outer.onCall(call);
    if (noted === undefined) this.#begin(call);
    else void noted.then(() => this.#begin(call));
    return noted;
  }

  #begin(call: Call): void {
    if (this.#isOver) return;
    this.#limit = new TimeLimit(this.#clock, this.#limitMs, () => {
      this.abort(new ToolError(`timed out after ${this.#limitMs / 1000} s`));
    });
    call.timeLimit = this.#limit;
  }

  override onSuccess(call: Call, output: CallOutput): void {
    this.#end(call);
    this.outer.onSuccess(call, output);
  }

  override onFailure(call: Call, error: string, thrown?: unknown): FailedResult | undefined {
    this.#end(call);
    return this.outer.onFailure(call, error, thrown);
  }

  #end(call: Call): void {
    this.#isOver = true;
    this.#limit?.stop();
    call.timeLimit = undefined;
  }
}

/** Limits the time of each attempt, where the task or the run has a `timeout`. */
export const timeout: Layer = ({ prepared, dependencies }: InvocationServices, next, task) => {
  const { timeoutMs: ofOthers } = prepared.options;
  if (task.timeoutMs === undefined && ofOthers === undefined) return next;
  return (call, listener) => {
    const limitMs = call.task.timeoutMs ?? ofOthers;
    if (limitMs === undefined) return next(call, listener);
    return new TimedAttempt(dependencies.clock, limitMs, listener).start(call, next);
  };
};
