import type { FailedResult, TaskResult } from '../../../machines/types.js';
import { errorMessage, type ToolError } from '../../common/errors.js';
import { toIsoTime } from '../../common/clock.js';
import { ellipsize, formatCount } from '../../common/text.js';
import { ConditionCheck } from '../../definition/template/condition.js';
import type { Repeat } from '../../pipelines/flow/conditions.js';
import { ROUND_BYTES } from '../history/fact.js';
import type { InvocationServices } from '../run-context.js';
import {
  attemptsOfRound,
  type Call,
  type CallListener,
  type CallOutput,
  failCall,
  type Layer,
  LayeredCall,
  type MakeCall,
  STOPPED,
} from './call.js';
import type { CancellableWait } from './waiting-calls.js';

/** A longer reason is cut, in events and errors: a run may have very many rounds. */
const MAX_REASON_LENGTH = 300;

/**
 * A call that is made again, after a wait, until conditions hold of its output (D83). Each round is an invocation with its own
 * retries; the inputs are the same in all of them. Only the output of the last round is kept.
 */
class RepeatedCall extends LayeredCall implements CancellableWait {
  readonly #repeat: Repeat;
  readonly #check: ConditionCheck;
  /** Ends the wait for the next round; undefined while none waits. */
  #timer: { readonly handle: unknown } | undefined;
  #isAborted = false;
  /** When the wait began, and when it ends, in milliseconds since 1970. */
  #waiting = { since: 0, until: 0 };

  constructor(
    services: InvocationServices,
    repeat: Repeat,
    call: Call,
    listener: CallListener,
    next: MakeCall,
  ) {
    super(services, call, listener, next);
    this.#repeat = repeat;
    this.#check = new ConditionCheck(repeat.until);
  }

  start(): this {
    const { progress, round } = this.call;
    this.call.round ??= { number: 1, attemptsBefore: 0 };
    // A retry of a round that another process has begun waits by itself.
    if (round === undefined || attemptsOfRound(this.call) > 0) this.makeInner();
    else if (progress?.due === undefined) this.#beginRound();
    else if (this.services.waitingCalls.isCancelled)
      failCall(this.call, this.outer, describeCancelled(this.#round.number));
    else {
      const remainingMs = Math.max(0, progress.due - this.services.dependencies.clock.now());
      this.#wait(Math.min(remainingMs, progress.delayMs));
    }
    return this;
  }

  #beginRound(): void {
    this.call.progress = undefined;
    this.call.models = undefined;
    this.makeInner();
  }

  override onSuccess(call: Call, output: CallOutput): TaskResult | undefined {
    const { number } = this.#round;
    const found = this.#findUnmet(output);
    if (found === undefined) {
      this.#report({});
      return this.outer.onSuccess(call, output);
    }
    this.services.budget.release(output.sizeBytes);
    if ('error' in found) return this.#fail(found.error);
    if (number >= this.#repeat.atMost) {
      this.#report(found);
      const error = `its condition does not hold after ${formatCount(number, 'round')}: ${found.reason}`;
      return this.#fail(error);
    }
    if (this.#isAborted) return this.#fail(STOPPED);
    if (this.services.waitingCalls.isCancelled) return this.#fail(describeCancelled(number + 1));
    const refusal = this.#reserveRound();
    if (refusal !== undefined) return this.#fail(`there is no round ${number + 1}: ${refusal}`);
    this.#scheduleRound(found.reason);
    return undefined;
  }

  get #round(): NonNullable<Call['round']> {
    return this.call.round ?? { number: 1, attemptsBefore: 0 };
  }

  #findUnmet({ value }: CallOutput): { readonly reason: string } | { readonly error: string } | undefined {
    try {
      const reason = this.call.owner.findUnmet(this.#check, value);
      return reason === undefined ? undefined : { reason: ellipsize(reason, MAX_REASON_LENGTH) };
    } catch (error) {
      return { error: errorMessage(error, this.services.prepared.secrets.masker?.mask) };
    }
  }

  #fail(error: string): FailedResult | undefined {
    return this.outer.onFailure(this.call, error);
  }

  /** Takes memory for what a durable run keeps of a round on the disk, which tenants share. Returns why it cannot. */
  #reserveRound(): string | undefined {
    if (this.services.history === undefined) return undefined;
    try {
      this.services.journal.budget.reserve(ROUND_BYTES);
      return undefined;
    } catch (refusal) {
      return errorMessage(refusal);
    }
  }

  #scheduleRound(reason: string): void {
    const { dependencies } = this.services;
    const { number } = this.#round;
    const delayMs = Math.ceil(this.#repeat.everyMs);
    this.onRound(this.call, dependencies.clock.now() + delayMs);
    this.#report({ reason, delay_ms: delayMs });
    this.call.round = { number: number + 1, attemptsBefore: this.call.attempts };
    this.#wait(delayMs);
    this.call.slot.wait();
  }

  /** Writes the event of the round that has ended. */
  #report(fields: { readonly reason?: string; readonly delay_ms?: number }): void {
    const { journal } = this.services;
    if (!journal.isObserved) return;
    const { task, attempts: attempt } = this.call;
    const { number: round } = this.#round;
    journal.write({
      kind: 'round',
      task_id: task.id,
      round,
      at_most: this.#repeat.atMost,
      attempt,
      ...fields,
    });
  }

  #wait(delayMs: number): void {
    const { waitingCalls, dependencies, journal } = this.services;
    const since = journal.timeline.now();
    this.#waiting = { since, until: since + delayMs };
    waitingCalls.add(this);
    const handle = dependencies.clock.setTimeout(() => {
      this.#endWait();
      this.onDue(this.call);
      this.call.slot.resume(() => this.#beginRound());
    }, delayMs);
    this.#timer = { handle };
  }

  get since(): number {
    return this.#waiting.since;
  }

  get awaited(): CancellableWait['awaited'] {
    return { reason: 'repeat', until: toIsoTime(this.#waiting.until) };
  }

  /** Returns false when the call does not wait for a round. */
  #endWait(): boolean {
    if (this.#timer === undefined) return false;
    this.services.waitingCalls.delete(this);
    this.services.dependencies.clock.clearTimeout(this.#timer.handle);
    this.#timer = undefined;
    return true;
  }

  /** Ends the wait because the run was cancelled: no further round begins (D21). */
  cancel(): void {
    if (this.#endWait()) failCall(this.call, this.outer, describeCancelled(this.#round.number));
  }

  override abort(error?: ToolError): void {
    this.#isAborted = true;
    if (this.#endWait()) failCall(this.call, this.outer, error?.message ?? STOPPED, error);
    else super.abort(error);
  }
}

function describeCancelled(round: number): string {
  return `cancelled before round ${round}`;
}

/** Makes the call again until conditions hold of its output, where the task has `repeat`. */
export const repeat: Layer = (services, next, task) =>
  task.repeat === undefined
    ? next
    : (call, listener) => {
        const { repeat: ofTask } = call.task;
        if (ofTask === undefined) return next(call, listener);
        return new RepeatedCall(services, ofTask, call, listener, next).start();
      };
