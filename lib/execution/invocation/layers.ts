import type { Task } from '../../pipelines/pipeline.js';
import { durable } from '../history/durable-call.js';
import type { InvocationServices } from '../run-context.js';
import { makeAttempt } from './attempt/attempt.js';
import { cache } from './cache/cached-call.js';
import { attemptsOfRound, failCall, type Layer, type MakeCall, NO_ABORT, skipCall } from './call.js';
import { observe } from './attempt/observed-attempt.js';
import { pool } from './pool.js';
import { repeat } from './repeat.js';
import { retry } from './retry.js';
import { timeout } from './timeout.js';

/** An item that an earlier run has settled is not noted, rendered or paid for again. */
const reuse: Layer = ({ prepared }, next) =>
  prepared.rerunSource === undefined
    ? next
    : (call, listener) => call.owner.reuseItem(call) ?? next(call, listener);

/** An item of which a condition does not hold is not paid for or called (D78). */
const condition: Layer = (_, next, { itemConditions }) =>
  itemConditions.length > 0
    ? (call, listener) => {
        const decision = call.owner.decide(call);
        if (decision === undefined) return next(call, listener);
        if ('error' in decision) failCall(call, listener, decision.error);
        else skipCall(call, listener, decision.reason);
        return NO_ABORT;
      }
    : next;

const render: Layer = (_, next) => (call, listener) => {
  const error = call.owner.render(call);
  if (error === undefined) return next(call, listener);
  failCall(call, listener, error);
  return NO_ABORT;
};

/** The invocations of a run (D20), of which each round is one. A call that may have to wait for its first place is counted by `pool` when it has it. */
const count: Layer = (services, next, task) => (call, listener) => {
  if (task.pool === undefined || attemptsOfRound(call) > 0) services.invocations++;
  return next(call, listener);
};

/**
 * The capabilities of a call, the outermost first:
 * - `reuse` before everything else: nothing of a reused item is left to do.
 * - `durable` outside of all that may differ in another process: while facts are replayed, no further layer is called.
 * - `condition` inside `durable`, since a skip is a fact, and before anything is rendered.
 * - `render` once for all attempts, and not for a call whose outcome is replayed.
 * - `cache` after `render`, since the inputs are its key, and inside `durable`, since a hit is a fact. It is asked once.
 * - `repeat` after `render`, since the inputs are the same in each round, and outside of `retry`: a round has retries of its own.
 * - `count` counts what calls its tool, once for all attempts.
 * - `retry` makes the layers inside of it anew for each attempt.
 * - `pool` inside `retry`, so that a call has no place between its attempts, and outside `timeout`: nothing of an attempt has
 *   begun while it waits for one.
 * - `timeout` limits one attempt, and not the delays between them.
 * - `observe` inside `timeout`, so that it sees which attempt has timed out.
 * - {@link makeAttempt} calls the tool.
 */
const LAYERS: readonly Layer[] = [
  reuse,
  durable,
  condition,
  render,
  cache,
  repeat,
  count,
  retry,
  pool,
  timeout,
  observe,
];

/** The layers of a run, composed once for tasks that use the same ones. */
export class CallLayers {
  readonly #services: InvocationServices;
  readonly #composed: (MakeCall | undefined)[] = [];

  constructor(services: InvocationServices) {
    this.#services = services;
  }

  /** Makes the calls of a task. */
  of(task: Task): MakeCall {
    const used = usedLayers(task);
    return (this.#composed[used] ??= this.#compose(task));
  }

  #compose(task: Task): MakeCall {
    const attempt: MakeCall = (call, listener) => makeAttempt(this.#services, call, listener);
    return LAYERS.reduceRight((next, layer) => layer(this.#services, next, task), attempt);
  }
}

/** A number for the layers by which tasks differ. */
function usedLayers(task: Task): number {
  const { cacheMs, retries, timeoutMs, pool: poolName, itemConditions, repeat: rounds } = task;
  const used = [
    cacheMs !== undefined,
    retries > 0,
    timeoutMs !== undefined,
    poolName !== undefined,
    itemConditions.length > 0,
    rounds !== undefined,
  ];
  return used.reduce((sum, isUsed, at) => sum + (isUsed ? 2 ** at : 0), 0);
}
