import type { TaskFailure } from '../../../common/errors.js';
import type { Json } from '../../../common/json/json.js';
import type { Task } from '../../../pipelines/pipeline.js';
import { NO_MEMORY_FOR_ERROR } from '../../events/journal.js';
import {
  type CallSettled,
  type RetryWaits,
  type RoundEnded,
  SKIP_BYTES,
  type TaskPublished,
} from '../fact.js';
import { attemptsOfRound, type Call } from '../../invocation/call.js';
import { RecordedError } from '../../invocation/thrown-error.js';
import type { MemoryBudget } from '../../memory-budget.js';
import type { PreparedRun } from '../../prepare/prepare-run.js';
import type { TaskOutcome } from '../../results.js';
import { ITEM_BYTES, ITEM_ERROR_BYTES } from '../../run/fan-out-work.js';
import { TASK_BYTES } from '../../run/run-work.js';
import { toFailureBytes } from '../../run/task-work.js';
import { TaskTrace, UNKNOWN_TIME } from '../../run/task-trace.js';
import { NO_WRITES, type Write } from '../../session/session-overrides.js';

const NO_ITEM_WRITES: readonly (readonly Write[])[] = [];

type SucceededCall = Extract<CallSettled, { readonly kind: 'succeeded' }>;
type SkippedCall = Extract<CallSettled, { readonly kind: 'skipped' }>;
type FailedCall = Extract<CallSettled, { readonly kind: 'failed' }>;

/** One task of a settled run: what its calls have returned, as the facts say. */
export class FoldedTask {
  readonly trace: TaskTrace;
  readonly #task: Task;
  readonly #budget: MemoryBudget;
  /** The outcome of an earlier run that replaced the calls. */
  #reused: TaskOutcome | undefined;
  #output: Json = null;
  #writes = NO_WRITES;
  /** Attempts of a task that called its tool once. */
  #attempts = 0;
  #hasFailed = false;
  /** The outputs of the items; undefined unless the task is a fan-out. */
  #itemOutputs: Json[] | undefined;
  #itemWrites: (readonly Write[])[] | undefined;
  #collected: TaskFailure[] | undefined;
  #outcomeBytes = 0;
  /** The round after the last one that has ended; undefined before the first has. */
  #round: Call['round'];

  /** @param startedAt milliseconds since 1970 */
  constructor(task: Task, startedAt: number, budget: MemoryBudget, { secrets }: PreparedRun) {
    this.trace = new TaskTrace(startedAt, budget, secrets);
    this.#task = task;
    this.#budget = budget;
    budget.tryReserve(TASK_BYTES);
  }

  /** Call for a task whose outcome was reused as a whole. Returns the failures that the earlier run has collected. */
  reuse(outcome: TaskOutcome): readonly TaskFailure[] {
    const { collected = [] } = outcome;
    this.#reused = outcome;
    if (collected.length > 0) this.trace.reusedFailures = collected;
    return collected;
  }

  fanOut(items: number): void {
    this.#itemOutputs = new Array<Json>(items);
    this.trace.fanOut(this.#itemOutputs);
    this.#keepBytes(ITEM_BYTES * items);
  }

  retry(fact: RetryWaits): void {
    this.#beginAttempt(fact);
    this.trace.onRetry(itemOf(fact), fact.attempts, fact.error, fact.at);
  }

  /** Call for a round that another one has followed. */
  endRound(fact: RoundEnded): void {
    this.trace.onAttempt(undefined, beginOf(fact));
    this.trace.rounds = fact.round;
    this.trace.onRound(fact.attempts, fact.at);
    this.#round = { number: fact.round + 1, attemptsBefore: fact.attempts };
  }

  /** Returns true for a call that has ended after an attempt: of a task with `repeat`, not between two rounds. */
  hasCalled({ attempts }: CallSettled): boolean {
    return attemptsOfRound({ attempts, round: this.#round }) > 0;
  }

  #beginAttempt(fact: CallSettled | RetryWaits): void {
    this.trace.onAttempt(itemOf(fact), beginOf(fact));
    if (this.#task.repeat !== undefined) this.trace.rounds = this.#round?.number ?? 1;
  }

  succeed(fact: SucceededCall): void {
    const { value, writes, attempts, at } = fact;
    const item = itemOf(fact);
    if (fact.cached) this.trace.onCacheHit(item);
    else if (attempts > 0) this.#beginAttempt(fact);
    this.#keepBytes(fact.bytes);
    if (item !== undefined) return this.#keepItem(item, value, writes, at);
    this.#output = value;
    this.#writes = writes;
    this.#attempts = attempts;
  }

  /** Call for an item whose output was there already: that of an earlier run. */
  reuseItem(item: number, at: number): void {
    const reused = this.trace.reusable?.get(item);
    if (reused !== undefined) this.#keepItem(item, reused.output, reused.writes, at);
  }

  #keepItem(item: number, output: Json, writes: readonly Write[], at: number): void {
    if (this.#itemOutputs !== undefined) this.#itemOutputs[item] = output;
    this.trace.onItemSettled(item, at);
    if (writes.length === 0) return;
    this.#itemWrites ??= [];
    this.#itemWrites[item] = writes;
  }

  fail(fact: FailedCall): TaskFailure {
    const { error, attempts, record, at } = fact;
    const item = itemOf(fact);
    if (this.hasCalled(fact)) this.#beginAttempt(fact);
    // An item whose error there was no memory for has failed its task.
    const isCollected = item !== undefined && this.#task.collectsErrors && error !== NO_MEMORY_FOR_ERROR;
    const failure = this.#addFailure(item, error, attempts, at, isCollected, record);
    if (item === undefined) this.#attempts = attempts;
    else if (isCollected) this.#collect(item, failure);
    return failure;
  }

  #collect(item: number, failure: TaskFailure): void {
    const { error } = failure;
    this.#keepBytes(ITEM_ERROR_BYTES + error.length);
    if (this.#itemOutputs !== undefined) this.#itemOutputs[item] = Object.freeze({ error });
    this.#collected ??= [];
    this.#collected.push(failure);
  }

  /** Call for an item of which a condition did not hold. */
  skipItem({ item, reason, at }: SkippedCall): void {
    this.#keepBytes(SKIP_BYTES + reason.length);
    if (this.#itemOutputs !== undefined) this.#itemOutputs[item] = null;
    this.trace.onItemSkipped(item, reason, at);
  }

  /** Call for a task that called nothing. */
  skip(reason: string): void {
    this.#budget.tryReserve(SKIP_BYTES + reason.length);
    this.trace.skipReason = reason;
  }

  /** Call for a task that could not begin. */
  refuse(error: string, at: number): TaskFailure {
    return this.#addFailure(undefined, error, 0, at, false);
  }

  /** Returns the failure with which a task has failed of which no call had failed it before; undefined for others. */
  publish({ at, ms, error, attempts }: TaskPublished): TaskFailure | undefined {
    const { trace } = this;
    if (ms !== undefined) trace.startedAt = at - ms;
    const failure =
      error === undefined || this.#hasFailed ? undefined : this.#failItself(error, at, attempts);
    trace.settledAt = at;
    trace.hasFailed = error !== undefined;
    trace.isReused = this.#reused !== undefined;
    trace.outcomeBytes = this.#outcomeBytes;
    if (error === undefined) trace.reusable = undefined;
    else if (this.#itemOutputs !== undefined) trace.itemWrites = this.#itemWrites ?? NO_ITEM_WRITES;
    return failure;
  }

  /** @param attempts undefined when the task was stopped before an item had failed, and in facts of earlier versions */
  #failItself(error: string, at: number, attempts: number | undefined): TaskFailure | undefined {
    const collected = this.#collected ?? [];
    if (attempts === undefined && this.#itemOutputs !== undefined && collected.length === 0) return undefined;
    const likely = collected.reduce((sum, each) => sum + each.attempts, this.#attempts);
    return this.#addFailure(undefined, error, attempts ?? likely, at, false);
  }

  #addFailure(
    item: number | undefined,
    error: string,
    attempts: number,
    at: number,
    isCollected: boolean,
    record?: FailedCall['record'],
  ): TaskFailure {
    const failure: TaskFailure = {
      task_id: this.#task.id,
      error,
      attempts,
      ...(item !== undefined && { item }),
      ...(isCollected && { collected: true }),
      ...(!isCollected && this.#task.toleratesFailure && { tolerated: true }),
    };
    if (!isCollected) this.#hasFailed = true;
    this.#budget.tryReserve(toFailureBytes(error));
    this.trace.onFailure(failure, record && new RecordedError(record), at);
    return failure;
  }

  #keepBytes(bytes: number): void {
    this.#outcomeBytes += bytes;
    this.#budget.tryReserve(bytes);
  }

  getOutcome(): TaskOutcome {
    if (this.#reused !== undefined) return this.#reused;
    const sizeBytes = this.#outcomeBytes;
    if (this.#itemOutputs === undefined) return { output: this.#output, writes: this.#writes, sizeBytes };
    const output = Object.freeze(this.#itemOutputs) as Json;
    const writes = this.#itemWrites?.flat() ?? NO_WRITES;
    const outcome = { output, writes, sizeBytes };
    return this.#collected === undefined ? outcome : { ...outcome, collected: this.#collected };
  }
}

function itemOf({ item }: CallSettled | RetryWaits): number | undefined {
  return item === -1 ? undefined : item;
}

/** When the last attempt of a call has begun; facts of earlier versions do not say it. */
function beginOf({ at, ms }: CallSettled | RetryWaits | RoundEnded): number {
  return ms === undefined ? UNKNOWN_TIME : at - ms;
}
