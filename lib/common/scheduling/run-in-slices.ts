import { ToolError } from '../errors.js';
import { runWithPauses, type Steps } from './steps.js';
import { measureSteps } from './event-loop-overruns.js';
import { eventLoopScheduler } from './event-loop-scheduler.js';

/** The attempt of a tool: its tenant has the event loop while the tool works, and its signal ends the work. */
export interface WorkingAttempt {
  readonly tenant_id: string;
  readonly signal: AbortSignal;
}

/**
 * Does the steps of long work of a tool in slices of the event loop, which tenants share (D25). Rejects with what they
 * throw, and with a ToolError when the signal aborts.
 */
export async function runInSlices<T>(steps: Steps<T>, attempt: WorkingAttempt): Promise<T> {
  const pause = (): Promise<void> | undefined => pauseWhenOver(attempt);
  await pause();
  return runWithPauses(measureSteps(steps, 'tasks'), pause);
}

/**
 * Resolves in a later slice when the time of this one is used up; undefined before. Await it between the parts of long work.
 *
 * @throws ToolError when the signal has aborted
 */
export function pauseWhenOver({ tenant_id: tenantId, signal }: WorkingAttempt): Promise<void> | undefined {
  if (signal.aborted) throw stoppedError();
  return eventLoopScheduler.waitWhenOver(tenantId, 'tasks');
}

/** The error of work that ends because its attempt has ended. */
export function stoppedError(): ToolError {
  return ToolError.nonRetryable('stopped while it waited or worked');
}
