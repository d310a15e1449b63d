import { type LimitedAttempt, stoppedError } from './attempt-queue.js';
import { ConcurrencyLimiter } from './concurrency-limiter.js';
import { measureSteps, type Place } from './event-loop-overruns.js';
import { eventLoopScheduler } from './event-loop-scheduler.js';
import { runWithPauses, type Steps } from './steps.js';

/** The attempt of a tool: its tenant has the event loop while the tool works, and its signal ends the work. */
export type WorkingAttempt = Pick<LimitedAttempt, 'tenant_id' | 'signal'>;

/**
 * Resolves when a request may hold the event loop again. Await it before work that many requests may cause at once.
 *
 * Requests that wait in one turn of the event loop continue together, which takes half the time of serving one after
 * another: each step of all of them runs while its code and its data are in the processor's caches.
 */
export function fairYield(tenantId: string): Promise<void> {
  return eventLoopScheduler.wait(tenantId, 'requests');
}

/**
 * Does the steps of long work in slices of the event loop, which tenants share (D25): the first step at once, so that a
 * request that has had its turn does not wait for another one. Rejects with what the steps throw.
 *
 * @param place of its overruns in the metrics
 */
export function runInSlices<T>(steps: Steps<T>, tenantId: string, place: Place = 'requests'): Promise<T> {
  return runWithPauses(measureSteps(steps, place), () => eventLoopScheduler.waitWhenOver(tenantId, place));
}

/**
 * Does the steps of long work of a tool, like {@link runInSlices}; the first one waits for a slice too, since many attempts
 * may begin at once. Rejects with a ToolError when the signal aborts.
 */
export async function runForAttempt<T>(steps: Steps<T>, attempt: WorkingAttempt): Promise<T> {
  const pause = (): Promise<void> | undefined => pauseWhenOver(attempt);
  await pause();
  return runWithPauses(measureSteps(steps, 'tasks'), pause);
}

/**
 * Resolves in a later slice when the time of this one is used up; undefined before. Await it between the parts of long work
 * of a tool.
 *
 * @throws ToolError when the signal has aborted
 */
export function pauseWhenOver({ tenant_id: tenantId, signal }: WorkingAttempt): Promise<void> | undefined {
  if (signal.aborted) throw stoppedError();
  return eventLoopScheduler.waitWhenOver(tenantId, 'tasks');
}

/** Of all tools. */
const longWork = new ConcurrencyLimiter({ total: 1, guaranteed: 1 });

/**
 * Does long work of an attempt in slices of the event loop. One attempt works at once, and one of each other tenant that
 * has none at work, up to two in all; the others wait. So however many tools have long work, what the work makes in between
 * is not there a thousand times.
 *
 * Rejects with what the work throws, or when the signal aborts.
 */
export function runLongWork<T>(attempt: LimitedAttempt, work: () => Steps<T>): Promise<T> {
  return longWork.run(attempt, () => runForAttempt(work(), attempt));
}
