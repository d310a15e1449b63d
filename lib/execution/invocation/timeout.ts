import type { FailedResult, TaskResult } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import { ToolError } from '../../common/errors.js';
import type { Task } from '../../pipelines/pipeline.js';
import type { InvocationServices } from '../run-context.js';
import { type Call, type CallOutput, type Layer, LayeredCall } from './call.js';

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
class TimedAttempt extends LayeredCall {
  #limit: TimeLimit | undefined;
  #isOver = false;

  start(): this {
    this.makeInner();
    return this;
  }

  /** The time begins when the tool is called. */
  override onCall(call: Call): Promise<void> | undefined {
    const noted = this.outer.onCall(call);
    if (noted === undefined) this.#begin();
    else void noted.then(() => this.#begin());
    return noted;
  }

  #begin(): void {
    const limitMs = findLimitMs(this.services, this.call.task);
    if (this.#isOver || limitMs === undefined) return;
    this.#limit = new TimeLimit(this.services.dependencies.clock, limitMs, () => {
      this.abort(new ToolError(`timed out after ${limitMs / 1000} s`));
    });
    this.call.timeLimit = this.#limit;
  }

  override onSuccess(call: Call, output: CallOutput): TaskResult | undefined {
    this.#end();
    return this.outer.onSuccess(call, output);
  }

  override onFailure(call: Call, error: string, thrown?: unknown): FailedResult | undefined {
    this.#end();
    return this.outer.onFailure(call, error, thrown);
  }

  #end(): void {
    this.#isOver = true;
    this.#limit?.stop();
    this.call.timeLimit = undefined;
  }
}

/** Limits the time of each attempt, where the task or the run has a `timeout`. */
export const timeout: Layer = (services, next, task) =>
  findLimitMs(services, task) === undefined
    ? next
    : (call, listener) => new TimedAttempt(services, call, listener, next).start();

function findLimitMs({ prepared }: InvocationServices, { timeoutMs }: Task): number | undefined {
  return timeoutMs ?? prepared.options.timeoutMs;
}
