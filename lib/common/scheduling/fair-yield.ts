import { measureSteps, type Place } from './event-loop-overruns.js';
import { eventLoopScheduler } from './event-loop-scheduler.js';
import { runWithPauses, type Steps } from './steps.js';

/**
 * Resolves when a request may hold the event loop again. Await it before work that many requests may cause at once, and
 * between the slices of long work.
 *
 * Requests that wait in one turn of the event loop continue together, which takes half the time of serving one after
 * another: each step of all of them runs while its code and its data are in the processor's caches.
 */
export function fairYield(tenantId: string): Promise<void> {
  return eventLoopScheduler.wait(tenantId, 'requests');
}

/** Like `fairYield`, once the time of this turn is used up; undefined before. Call it between short steps. */
export function yieldWhenOver(tenantId: string): Promise<void> | undefined {
  return eventLoopScheduler.waitWhenOver(tenantId, 'requests');
}

/**
 * Does the steps of long work of a request. Other work may run between two of them. Rejects with what they throw.
 *
 * @param place of its overruns in the metrics
 */
export function runInTurns<T>(steps: Steps<T>, tenantId: string, place: Place = 'requests'): Promise<T> {
  return runWithPauses(measureSteps(steps, place), () => fairYield(tenantId));
}
