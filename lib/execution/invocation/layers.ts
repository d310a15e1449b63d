import type { Task } from '../../pipelines/pipeline.js';
import { durable } from '../history/durable-call.js';
import type { InvocationServices } from '../run-context.js';
import { cache } from './cache/cached-invocation.js';
import { type Layer, type MakeCall, NO_ABORT } from './call.js';
import { invoke } from './invocation.js';

/** An item that an earlier run has settled is not noted, rendered or paid for again. */
const reuse: Layer = ({ prepared }, next) =>
  prepared.rerunSource === undefined
    ? next
    : (call, listener) => call.owner.reuseItem(call) ?? next(call, listener);

const render: Layer = (_, next) => (call, listener) => {
  const error = call.owner.render(call);
  if (error === undefined) return next(call, listener);
  call.slot.settle(listener.onFailure(call.item, error, 0));
  return NO_ABORT;
};

/**
 * The capabilities of a call, the outermost first:
 * - `reuse` before everything else: nothing of a reused item is left to do.
 * - `durable` outside of all that may differ in another process: while facts are replayed, no further layer is called.
 * - `render` once for all attempts, and not for a call whose outcome is replayed.
 * - `cache` after `render`, since the inputs are its key, and inside `durable`, since a hit is a fact. It is asked once.
 * - {@link invoke} makes the attempts.
 */
const LAYERS: readonly Layer[] = [reuse, durable, render, cache];

/** The layers of a run, composed once for tasks that use the same ones. */
export class CallLayers {
  readonly #services: InvocationServices;
  #cached: MakeCall | undefined;
  #uncached: MakeCall | undefined;

  constructor(services: InvocationServices) {
    this.#services = services;
  }

  /** Makes the calls of a task. */
  of(task: Task): MakeCall {
    // Tasks differ by `cache` alone.
    if (task.cacheMs === undefined) return (this.#uncached ??= this.#compose(task));
    return (this.#cached ??= this.#compose(task));
  }

  #compose(task: Task): MakeCall {
    const attempts: MakeCall = (call, listener) => invoke(this.#services, call, listener);
    return LAYERS.reduceRight((next, layer) => layer(this.#services, next, task), attempts);
  }
}
