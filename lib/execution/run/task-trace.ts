import { toTaskStatus } from '../../../machines/status.js';
import type { TaskFailure } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import { describeThrown, type ErrorRecord } from '../invocation/thrown-error.js';
import type { RunSecrets } from '../../definition/secrets/run-secrets.js';
import type { TaskMembers } from '../../definition/template/scope.js';
import type { Task } from '../../pipelines/pipeline.js';
import type { MemoryBudget } from '../memory-budget.js';
import type { Write } from '../session/session-overrides.js';
import type { ReusableItems } from './reuse/reusable-items.js';

/** An attempt that failed, or that ended a round (D83). Times are milliseconds since 1970, UTC. */
export interface EndedAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  /** Null when the attempt has succeeded. */
  readonly error: string | null;
}

/** The attempts of a call before the last one, kept only for the few calls that have failed ones, or rounds. */
export interface EndedAttempts {
  readonly firstStartedAt: number;
  /** The last ones, the oldest first. */
  readonly attempts: EndedAttempt[];
  /** Set when the call has failed. */
  error: ErrorRecord | undefined;
}

const MAX_KEPT_ATTEMPTS = 20;

/** Stacks of one task that are kept: those of many items are alike. */
const MAX_STACKS = 10;

/** Errors whose stacks are read to find stacks to keep: reading takes longer than all else for a failed item. */
const MAX_STACK_READS = 100;

/** Measured memory of a failed attempt, and of an error, without their texts. */
const RECORD_BYTES = 256;

/** Stands for a time in a run that nobody has observed. */
export const UNKNOWN_TIME = 1;

/** Stands for the time at which a call began that was not made. */
const CACHED = -1;

/** The only call of a task that is no fan-out. */
const NO_ITEM = -1;

/** The record of a task for those who look at it (D59). Its inputs are not kept, because they can be rendered again. */
export class TaskTrace {
  /** Milliseconds since 1970, UTC, like all times here. */
  startedAt: number;
  settledAt: number | undefined;
  hasFailed = false;
  /** True when the output comes from an earlier run (D35). */
  isReused = false;
  /** Why the task calls nothing (D78); undefined for any other one. */
  skipReason: string | undefined;
  /** Why items call nothing, by item. */
  #skippedItems: Map<number, string> | undefined;
  /** Of a task with `repeat`, the rounds that have begun (D83). */
  rounds = 0;
  /** Number of invocations whose output was in the cache (D65). */
  cacheHits = 0;
  /** Memory of the task's output and writes, or of those of the items of a fan-out that failed, in bytes. */
  outcomeBytes = 0;
  /** When the call's last attempt began; `CACHED` when its output was in the cache (D65), like the times of items. */
  #callStartedAt = 0;
  /** Outputs of the items, which are empty until they have succeeded; undefined unless the task is a fan-out. */
  itemOutputs: readonly Json[] | undefined;
  /** The items of a reused outcome whose errors were collected. */
  reusedFailures: readonly TaskFailure[] | undefined;
  /** In a rerun, the items of a fan-out that need not run again; of one that failed, some may not have been reached. */
  reusable: ReusableItems | undefined;
  /** The writes of the items that have succeeded; set when a fan-out has failed. */
  itemWrites: readonly (readonly Write[])[] | undefined;
  /** The times by item: when its last attempt began, and then when the item settled; 0 before that. */
  #itemTimes: Float64Array | undefined;
  #ended: Map<number, EndedAttempts> | undefined;
  /** Key of the call whose failure was the first that was not collected. */
  #firstFailed: number | undefined;
  #stacks = 0;
  #stackReads = 0;
  readonly #budget: MemoryBudget;
  readonly #secrets: RunSecrets;

  constructor(startedAt: number, budget: MemoryBudget, secrets: RunSecrets) {
    this.startedAt = startedAt;
    this.#budget = budget;
    this.#secrets = secrets;
  }

  /** Call when the list of a fan-out is known. @param outputs is filled by the caller */
  fanOut(outputs: readonly Json[]): void {
    this.itemOutputs = outputs;
    this.#itemTimes = new Float64Array(2 * outputs.length);
  }

  onAttempt(item: number | undefined, now: number): void {
    if (item === undefined) this.#callStartedAt = now;
    else if (this.#itemTimes !== undefined) this.#itemTimes[2 * item] = now;
  }

  onCacheHit(item: number | undefined): void {
    this.cacheHits++;
    this.onAttempt(item, CACHED);
  }

  /** Returns true when the output was in the cache, so that the tool was not called. */
  isCached(item: number | undefined): boolean {
    return this.#lastStart(item) === CACHED;
  }

  /** Call when an item has succeeded or failed. */
  onItemSettled(item: number, now: number): void {
    if (this.#itemTimes !== undefined) this.#itemTimes[2 * item + 1] = now;
  }

  onItemSkipped(item: number, reason: string, now: number): void {
    this.#skippedItems ??= new Map();
    this.#skippedItems.set(item, reason);
    this.onItemSettled(item, now);
  }

  /** Why an item, or without one the task, calls nothing (D78). */
  skipReasonOf(item: number | undefined): string | undefined {
    return item === undefined ? this.skipReason : this.#skippedItems?.get(item);
  }

  /** Call when an attempt has failed that is not the last one. @param attempt from 1 */
  onRetry(item: number | undefined, attempt: number, error: string, now: number): void {
    this.#addAttempt(item, attempt, error, now);
  }

  /** Call when a round has ended that is not the last one (D83). @param attempt that ended it, from 1 */
  onRound(attempt: number, now: number): void {
    this.#addAttempt(undefined, attempt, null, now);
  }

  /** Call when a call has failed. @param failure its text as the run keeps it @param thrown what the tool threw, if it did */
  onFailure({ item, attempts, error, collected }: TaskFailure, thrown: unknown, now: number): void {
    const failed = this.#addAttempt(item, attempts, error, now);
    failed.error = this.#describe(thrown, error);
    if (collected !== true) this.#firstFailed ??= item ?? NO_ITEM;
    if (item !== undefined) this.onItemSettled(item, now);
  }

  #addAttempt(
    item: number | undefined,
    attempt: number,
    error: string | null,
    finishedAt: number,
  ): EndedAttempts {
    const key = item ?? NO_ITEM;
    const startedAt = this.callStartedAt(item) ?? finishedAt;
    this.#ended ??= new Map();
    let ended = this.#ended.get(key);
    if (ended === undefined) {
      ended = { firstStartedAt: startedAt, attempts: [], error: undefined };
      this.#ended.set(key, ended);
    }
    const last = ended.attempts.at(-1);
    // A call that fails between two rounds has made no attempt since the last one.
    const isListed = last?.error === null && last.attempt === attempt;
    if (attempt > 0 && !isListed && this.#budget.tryReserve(measureAttempt(error))) {
      ended.attempts.push({ attempt, startedAt, finishedAt, error });
      const dropped = ended.attempts.length > MAX_KEPT_ATTEMPTS ? ended.attempts.shift() : undefined;
      if (dropped !== undefined) this.#budget.release(measureAttempt(dropped.error));
    }
    return ended;
  }

  /** Without memory for more, keeps the message only, which the run has anyway. */
  #describe(thrown: unknown, message: string): ErrorRecord {
    const withStack = this.#stacks < MAX_STACKS && this.#stackReads++ < MAX_STACK_READS;
    const record = describeThrown(thrown, message, withStack, this.#secrets.masker?.mask);
    if (!this.#budget.tryReserve(measure(record))) return { type: record.type, message, causes: [] };
    if (record.stack !== undefined) this.#stacks++;
    return record;
  }

  /** Undefined when the tool was not called. */
  callStartedAt(item: number | undefined): number | undefined {
    const time = this.#lastStart(item);
    return time === 0 || time === CACHED ? undefined : time;
  }

  #lastStart(item: number | undefined): number {
    return item === undefined ? this.#callStartedAt : (this.#itemTimes?.[2 * item] ?? 0);
  }

  itemSettledAt(item: number): number | undefined {
    const time = this.#itemTimes?.[2 * item + 1] ?? 0;
    return time === 0 ? undefined : time;
  }

  endedAttempts(item: number | undefined): EndedAttempts | undefined {
    return this.#ended?.get(item ?? NO_ITEM);
  }

  /** Why the task failed: of a fan-out, the error of the item that failed first. */
  get error(): ErrorRecord | undefined {
    if (!this.hasFailed || this.#firstFailed === undefined) return undefined;
    return this.#ended?.get(this.#firstFailed)?.error;
  }
}

function measureAttempt(error: string | null): number {
  return RECORD_BYTES + (error?.length ?? 0);
}

function measure({ message, causes, stack = '' }: ErrorRecord): number {
  let bytes = RECORD_BYTES + message.length + stack.length;
  for (const cause of causes) bytes += RECORD_BYTES + cause.message.length;
  return bytes;
}

const NEVER_BEGUN: TaskMembers = {
  status: toTaskStatus({
    hasBegun: false,
    hasSucceeded: false,
    hasFailed: false,
    isSkipped: false,
    isOver: true,
  }),
  error: null,
};

/** The state of a task that templates may read (D79); undefined for a task without `when` and `on_error: continue`. */
export function readState(task: Task | undefined, trace: TaskTrace | undefined): TaskMembers | undefined {
  if (!isUncertain(task)) return undefined;
  // Only handlers read a task that has not begun: the run has ended before it.
  if (trace === undefined) return NEVER_BEGUN;
  const { hasFailed, skipReason, error } = trace;
  const isSkipped = skipReason !== undefined;
  const status = toTaskStatus({
    hasBegun: true,
    hasSucceeded: !hasFailed,
    hasFailed,
    isSkipped,
    isOver: true,
  });
  return { status, error: error?.message ?? null };
}

/** Returns true for a task that may be skipped, or fail without its run, by itself. */
export function isUncertain(task: Task | undefined): boolean {
  return (
    task !== undefined && (task.conditions.length + task.itemConditions.length > 0 || task.toleratesFailure)
  );
}
