import type { FailedResult, TaskResult } from '../../../machines/types.js';
import { errorMessage, isNonRetryable, ToolError } from '../../common/errors.js';
import type { CachedOutput } from '../invocation/cache/cached-output.js';
import type { MemoryBudget } from '../memory-budget.js';
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
  skipCall,
  STOPPED,
} from '../invocation/call.js';
import { RecordedError } from '../invocation/thrown-error.js';
import {
  CALL_BYTES,
  type CallFact,
  type CallProgress,
  type CallSettled,
  measureRetry,
  type RetryWaits,
  ROUND_BYTES,
  type RoundEnded,
  SKIP_BYTES,
} from './fact.js';
import { callKey } from './replay.js';
import { MAX_CRASHES, type PlacedHistory, type Unplaced } from './run-history.js';

/**
 * One call of a tool in a durable run (D68). While facts are replayed, it reports what was noted. Without a noted outcome,
 * it calls the tool as the same attempt, after what is left of a retry delay.
 */
class DurableCall extends LayeredCall {
  readonly #history: PlacedHistory;
  #progress: CallProgress | undefined;
  /** The attempt that may have been at work when the process ended; undefined when there is none. */
  #atWork: number | undefined;
  #isAborted = false;
  #isSettled = false;
  /** When the last attempt began, in milliseconds since 1970; undefined when that is not known. */
  #startedAt: number | undefined;
  /** Called when the call has its slot again after a delay. */
  #onSlot: (() => void) | undefined;
  #hasSlot = true;

  constructor(
    services: InvocationServices,
    history: PlacedHistory,
    call: Call,
    listener: CallListener,
    next: MakeCall,
  ) {
    super(services, call, listener, next);
    this.#history = history;
  }

  start(): this {
    const { replay } = this.#history;
    if (replay === undefined) this.#begin();
    else {
      const key = this.#key;
      replay.expect(key, {
        onFact: (fact) => {
          const isLast = this.#replay(fact as CallFact);
          if (isLast) replay.settle(key);
        },
        onEnd: () => this.#goOn(),
      });
      this.#beginWithin();
    }
    return this;
  }

  /** Returns true when the call has settled. */
  #replay(fact: CallFact): boolean {
    switch (fact.kind) {
      case 'retry': {
        this.#countCalls(1);
        this.#runBudget.reserve(measureRetry(fact.error));
        this.#replayAttempt(fact);
        this.outer.onRetry(this.call, fact.error, fact.due);
        const delayMs = Math.max(0, fact.due - fact.at);
        this.#progress = { attempts: fact.attempts, due: fact.due, delayMs };
        this.#hasSlot = false;
        this.call.slot.wait();
        return false;
      }
      case 'round': {
        const { round: number, attempts, at, due } = fact;
        this.#countCalls(attempts - (this.#progress?.attempts ?? 0));
        this.services.invocations++;
        this.#runBudget.reserve(ROUND_BYTES);
        this.#replayAttempt(fact);
        this.outer.onRound(this.call, due);
        this.call.round = { number: number + 1, attemptsBefore: attempts };
        this.#progress = { attempts, due, delayMs: Math.max(0, due - at) };
        this.#hasSlot = false;
        this.call.slot.wait();
        return false;
      }
      case 'due': {
        this.#progress = { attempts: this.#progress?.attempts ?? 0, due: undefined, delayMs: 0 };
        this.call.slot.resume(() => {
          this.#hasSlot = true;
          if (this.#onSlot === undefined) this.#beginWithin();
          else this.#onSlot();
        });
        return false;
      }
      case 'succeeded':
      case 'failed':
      case 'skipped':
        this.#settle(fact);
        return true;
    }
  }

  /** Lets the last attempt begin and end at the times at which it did before. */
  #replayAttempt({ at, attempts, ms }: CallSettled | RetryWaits | RoundEnded): void {
    const { timeline } = this.#history.run;
    if (ms !== undefined) timeline.replayExactly(at - ms);
    this.call.attempts = attempts;
    if (attempts > 0) this.onAttempt(this.call);
    if (ms !== undefined) timeline.replayExactly(at);
  }

  #settle(fact: CallSettled): void {
    const { attempts } = fact;
    this.#runBudget.reserve(CALL_BYTES);
    const hasCalled = attemptsOfRound({ attempts, round: this.call.round }) > 0;
    if (hasCalled) {
      this.#countCalls(attempts - (this.#progress?.attempts ?? 0));
      this.services.invocations++;
    }
    // A call that has ended between two rounds has made no further attempt.
    if (hasCalled || attempts === 0) this.#replayAttempt(fact);
    else this.#history.run.timeline.replayExactly(fact.at);
    const call = this.call;
    if (fact.kind === 'failed') {
      if (fact.permanent) this.services.parent?.onPermanentFailure?.();
      return failCall(call, this.outer, fact.error, fact.record && new RecordedError(fact.record));
    }
    if (fact.kind === 'skipped') {
      this.services.budget.reserve(SKIP_BYTES + fact.reason.length);
      return skipCall(call, this.outer, fact.reason);
    }
    const { value, writes, bytes: sizeBytes } = fact;
    this.services.budget.reserve(sizeBytes);
    this.#payForValue(sizeBytes);
    if (fact.cached) this.outer.onCacheHit(call, { output: value, writes, sizeBytes });
    else this.outer.onSuccess(call, { value, writes, sizeBytes, hasFiles: false });
    call.slot.settle({ ok: true });
  }

  /** Begins an attempt before all facts are replayed when some of them happened in a pipeline that it runs. */
  #beginWithin(): void {
    const attempt = this.#nextAttempt;
    if (!this.#history.hasNested(this.#taskId, this.#item, attempt)) return;
    // Where the outcome of the attempt is not among the facts, it is lost when they have been replayed.
    if (this.#findProblem() !== undefined) return this.#history.dropNested(this.#taskId, this.#item, attempt);
    this.#atWork = attempt;
    this.#begin();
  }

  /** Goes on with the call after its last fact, when nothing is known of what follows. */
  #goOn(): void {
    if (this.inner !== undefined || this.#isSettled) return;
    if (this.#isAborted) return this.#settleStopped();
    // A run that was cancelled by force, or whose time was over, may not have come to stop all of its calls: it goes on with
    // that, and a call that failed before would look as if it had failed on its own.
    if (this.#history.run.past.facts.isStopped(this.#history.place)) return;
    if (this.#history.run.hasSettled) return;
    const problem = this.#findProblem();
    if (problem !== undefined) return this.#settleLost(problem);
    if (this.#progress?.due === undefined) this.#atWork = this.#nextAttempt;
    const waitsForSlot = this.#progress !== undefined && this.#progress.due === undefined && !this.#hasSlot;
    if (waitsForSlot) this.#onSlot = () => this.#begin();
    else this.#begin();
  }

  get #nextAttempt(): number {
    return (this.#progress?.attempts ?? 0) + 1;
  }

  /** Why a call that was at work, or waited for an attempt, is not made again. */
  #findProblem(): string | undefined {
    const { past, givenUp } = this.#history.run;
    const { crashes, wasCrash } = past.facts;
    const called = past.facts.findCalled(this.#key);
    const wasCalled = called?.attempt === this.#nextAttempt;
    if (wasCalled && this.#isAtMostOnce)
      return 'was at work when the process ended, and must not be called twice';
    const crashesAtWork = wasCalled ? crashes - called.crashes : Number(wasCrash);
    if (this.#progress?.due !== undefined || crashesAtWork < MAX_CRASHES) return givenUp;
    return `the process ended ${crashesAtWork} times while it was at work: it is not called again`;
  }

  #settleLost(problem: string): void {
    this.#isSettled = true;
    this.services.parent?.onPermanentFailure?.();
    this.services.invocations++;
    this.#fail(problem, this.#nextAttempt, ToolError.nonRetryable(problem));
  }

  /** Settles a call that was stopped while it was at work, or waited for an attempt. */
  #settleStopped(): void {
    this.#isSettled = true;
    const { attempts, due } = this.#progress ?? { attempts: 0, due: undefined };
    const wasAtWork = due === undefined && this.#hasSlot;
    const ofRound = attemptsOfRound({ attempts, round: this.call.round });
    if (ofRound > 0 || wasAtWork) this.services.invocations++;
    this.#fail(STOPPED, attempts + (wasAtWork ? 1 : 0));
  }

  #fail(error: string, attempts: number, thrown?: unknown): void {
    this.call.attempts = attempts;
    failCall(this.call, this, error, thrown);
  }

  #begin(): void {
    if (this.#history.run.hasSettled) return;
    try {
      this.#runBudget.reserve(CALL_BYTES);
    } catch (refusal) {
      this.#isSettled = true;
      return this.#fail(errorMessage(refusal), this.#progress?.attempts ?? 0, refusal);
    }
    this.call.progress = this.#progress;
    this.call.attempts = this.#progress?.attempts ?? 0;
    this.makeInner();
  }

  /** The memory of the submitted run: what is on the disk stays there when a pipeline inside a task has ended. */
  get #runBudget(): MemoryBudget {
    return this.services.journal.budget;
  }

  /** The memory of a pipeline inside a task is given back when it has ended, but not what it has returned on the disk. */
  #payForValue(bytes: number): void {
    // When no memory is left, no further call begins.
    if (this.services.budget !== this.#runBudget) this.#runBudget.tryReserve(bytes);
  }

  /** Stops the call. While facts are replayed, it only notes so: the fact that says how the call ended follows. */
  override abort(error?: ToolError): void {
    if (this.inner !== undefined) return super.abort(error);
    this.#isAborted = true;
    if (this.#history.replay === undefined) this.#goOn();
  }

  override onAttempt(call: Call): void {
    this.outer.onAttempt(call);
    this.#startedAt = this.#history.run.timeline.latest;
  }

  override onRetry(call: Call, error: string, due: number): void {
    const { attempts } = call;
    this.#history.dropNested(this.#taskId, this.#item, attempts);
    this.outer.onRetry(call, error, due);
    this.#noteEnd({ kind: 'retry', ...this.#fields, attempts, error, due });
  }

  override onRound(call: Call, due: number): void {
    const { attempts, round } = call;
    this.#history.dropNested(this.#taskId, this.#item, attempts);
    this.outer.onRound(call, due);
    this.#noteEnd({ kind: 'round', ...this.#fields, round: round?.number ?? 1, attempts, due });
  }

  override onCall({ attempts: attempt }: Call): Promise<void> | undefined {
    if (!this.#isAtMostOnce && attempt !== this.#atWork) {
      // A call that fails again and again must not note more than the disk takes.
      return attempt === 1 ? undefined : this.#history.run.committed();
    }
    const { crashes, wasCrash } = this.#history.run.past.facts;
    const crashesBefore = crashes - (attempt === this.#atWork && wasCrash ? 1 : 0);
    this.#history.note({ kind: 'called', ...this.#fields, attempt, crashes: crashesBefore });
    return this.#history.run.committed();
  }

  override onDue(): void {
    this.#history.note({ kind: 'due', ...this.#fields });
  }

  override onSuccess(call: Call, output: CallOutput): TaskResult | undefined {
    const { attempts } = call;
    const { value, writes, sizeBytes: bytes } = output;
    this.#history.dropNested(this.#taskId, this.#item, attempts);
    const result = this.outer.onSuccess(call, output);
    this.#payForValue(bytes);
    this.#noteEnd({ kind: 'succeeded', ...this.#fields, value, writes, attempts, bytes });
    return result;
  }

  override onCacheHit(call: Call, cached: CachedOutput): void {
    this.outer.onCacheHit(call, cached);
    const { output: value, writes, sizeBytes: bytes } = cached;
    this.#noteEnd({ kind: 'succeeded', ...this.#fields, value, writes, attempts: 0, bytes, cached: true });
  }

  override onSkip(call: Call, reason: string): void {
    this.outer.onSkip(call, reason);
    this.#noteEnd({ kind: 'skipped', ...this.#fields, reason, attempts: 0 });
  }

  override onFailure(call: Call, error: string, thrown?: unknown): FailedResult | undefined {
    const { attempts, owner } = call;
    this.#history.dropNested(this.#taskId, this.#item, attempts);
    const result = this.outer.onFailure(call, error, thrown);
    const record = owner.errorOf(this.#item);
    this.#noteEnd({
      kind: 'failed',
      ...this.#fields,
      error: result?.error ?? error,
      attempts,
      ...(record && { record }),
      ...(isNonRetryable(thrown) && { permanent: true }),
    });
    return result;
  }

  /** Notes the end of the last attempt: the time that its owner has kept, or of a task's only call, that of its publication. */
  #noteEnd(fact: Unplaced<CallSettled | RetryWaits | RoundEnded>): void {
    const { timeline } = this.#history.run;
    const isKept = this.#item !== undefined || fact.kind !== 'succeeded';
    const at = isKept ? timeline.latest : timeline.now();
    this.#history.note({ ...fact, ms: at - (this.#startedAt ?? at) }, at);
  }

  get #taskId(): string {
    return this.call.task.id;
  }

  get #item(): number | undefined {
    return this.call.item;
  }

  get #isAtMostOnce(): boolean {
    return !this.call.task.isRepeatable;
  }

  get #key(): string {
    return callKey(this.#history.place, this.#taskId, this.#item ?? -1);
  }

  /** Tools know how often they were called. */
  #countCalls(calls: number): void {
    this.services.countCalls(this.call.task.tool.name, calls);
  }

  get #fields(): { readonly task: string; readonly item: number } {
    return { task: this.#taskId, item: this.#item ?? -1 };
  }
}

/** Notes the outcome of a call where the run is kept for another process, and replays the one that was noted (D68). */
export const durable: Layer = (services, next) => {
  const { history } = services;
  return history === undefined
    ? next
    : (call, listener) => new DurableCall(services, history, call, listener, next).start();
};
