import type { FailedResult, TaskResult } from '../../../machines/types.js';
import { ToolError } from '../../common/errors.js';
import type { Release } from '../../common/scheduling/concurrency-limiter.js';
import { describeUnknownPool, type TaskPool } from '../../common/scheduling/task-pools.js';
import { eventLoopBudget, nextSliceWhenOver } from '../run/event-loop-budget.js';
import type { InvocationServices } from '../run-context.js';
import {
  type AbortableCall,
  attemptsOfRound,
  type Call,
  type CallListener,
  type CallOutput,
  failCall,
  type Layer,
  LayeredCall,
  type MakeCall,
  NO_ABORT,
  STOPPED,
} from './call.js';
import type { CancellableWait } from './waiting-calls.js';

/** An attempt that begins when it has a place of the pool of its task, which it gives back when it ends (D81). */
class PooledAttempt extends LayeredCall implements CancellableWait {
  since = 0;
  readonly #pool: TaskPool;
  #release: Release | undefined;
  /** Ends the wait for a place; undefined when there is none. */
  #waiting: AbortController | undefined;

  constructor(
    services: InvocationServices,
    pool: TaskPool,
    call: Call,
    listener: CallListener,
    next: MakeCall,
  ) {
    super(services, call, listener, next);
    this.#pool = pool;
  }

  get awaited(): CancellableWait['awaited'] {
    return { reason: 'pool', pool: this.#pool.name };
  }

  start(): this {
    const release = this.#pool.limiter.tryAcquire(this.services.prepared.tenantId);
    if (release !== undefined) this.#begin(release);
    else if (this.services.waitingCalls.isCancelled) this.#fail(this.#cancelled);
    else this.#wait();
    return this;
  }

  /** The invocation counts when its tool is first called (D20). */
  #begin(release: Release): void {
    this.#release = release;
    if (attemptsOfRound(this.call) === 0) this.services.invocations++;
    this.makeInner();
  }

  #wait(): void {
    const { prepared, journal, waitingCalls } = this.services;
    this.since = journal.timeline.now();
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    waitingCalls.add(this);
    this.#pool.limiter.acquire({ tenant_id: prepared.tenantId, signal }).then(
      (release) => this.#onPlace(release),
      // The call has failed when its wait was ended.
      () => undefined,
    );
    this.#report();
  }

  /** Many calls of tools that end at once would begin each other in one turn of the event loop. */
  #onPlace(release: Release): void {
    const rest = nextSliceWhenOver(eventLoopBudget.forTenant(this.services.prepared.tenantId));
    if (rest === undefined) this.#beginAfterWait(release);
    else void rest.then(() => this.#beginAfterWait(release));
  }

  #beginAfterWait(release: Release): void {
    if (this.#endWait()) this.#begin(release);
    else release();
  }

  /** Returns false when the call does not wait. */
  #endWait(): boolean {
    if (this.#waiting === undefined) return false;
    this.services.waitingCalls.delete(this);
    this.#waiting.abort();
    this.#waiting = undefined;
    return true;
  }

  /** Says once for a task that its calls wait, and for what: the items of a fan-out may be very many. */
  #report(): void {
    const { journal, waitingCalls } = this.services;
    const { id: task_id } = this.call.task;
    if (!journal.isObserved || !waitingCalls.isFirstOf(task_id)) return;
    journal.write({ kind: 'log', task_id, message: `waits for a place in pool "${this.#pool.name}"` });
  }

  /** Ends the wait because the run was cancelled: the call has not begun, and does not begin any more (D21). */
  cancel(): void {
    if (this.#endWait()) this.#fail(this.#cancelled);
  }

  get #cancelled(): ToolError {
    return ToolError.nonRetryable(`cancelled before it had a place in pool "${this.#pool.name}"`);
  }

  override abort(error?: ToolError): void {
    if (!this.#endWait()) return super.abort(error);
    failCall(this.call, this.outer, error?.message ?? STOPPED, error);
  }

  #fail(error: ToolError): void {
    failCall(this.call, this.outer, error.message, error);
  }

  override onSuccess(call: Call, output: CallOutput): TaskResult | undefined {
    this.#release?.();
    return this.outer.onSuccess(call, output);
  }

  override onFailure(call: Call, error: string, thrown?: unknown): FailedResult | undefined {
    this.#release?.();
    return this.outer.onFailure(call, error, thrown);
  }
}

function makePooledAttempt(
  services: InvocationServices,
  next: MakeCall,
  name: string,
  call: Call,
  listener: CallListener,
): AbortableCall {
  const { pools } = services.dependencies;
  const pool = pools.get(name);
  if (pool !== undefined) return new PooledAttempt(services, pool, call, listener, next).start();
  const error = describeUnknownPool(
    name,
    [...pools].map((known) => known.name),
  );
  failCall(call, listener, error, ToolError.nonRetryable(error));
  return NO_ABORT;
}

/** Begins each attempt when it has a place, where the task has a `pool`. */
export const pool: Layer = (services, next, task) =>
  task.pool === undefined
    ? next
    : (call, listener) => makePooledAttempt(services, next, call.task.pool ?? '', call, listener);
