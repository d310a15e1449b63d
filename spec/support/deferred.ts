import { eventLoopScheduler } from '../../lib/common/scheduling/event-loop-scheduler.js';
import type { Steps } from '../../lib/common/scheduling/steps.js';

/** A promise that a spec resolves or rejects. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** Of the event loop, before waiting is given up. */
const MOST_TICKS = 100_000;

/** Resolves when the file system, or whatever else no spec can wait for, has done what was asked of it. */
export async function settleUntil(isDone: () => boolean): Promise<void> {
  for (let ticks = 0; !isDone(); ticks++) {
    if (ticks > MOST_TICKS) throw new Error('it was not done');
    await settle(1);
  }
}

/**
 * Waits until all pending promises have settled and some ticks of the event loop have passed: more ticks when a busy machine
 * has put work off to a later turn of it.
 */
export async function settle(ticks = 3): Promise<void> {
  for (let tick = 0; tick < ticks || (eventLoopScheduler.hasWaitingWork && tick < MOST_TICKS); tick++) {
    await new Promise<void>((next) => {
      setImmediate(next);
    });
  }
}

/** Does steps, and counts those that pause. */
export function* countYields<T>(steps: Steps<T>, count: () => void): Steps<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    count();
    yield;
  }
}
