import { TaskFailedError, WavetrainError } from '../errors.js';
import type { PlanResult } from './plan-outcome.js';
import type { PlanRun } from './plan-run.js';

export type { PlanOutcome, PlanResult } from './plan-outcome.js';

/**
 * The result of a settled plan run that succeeded (D47).
 *
 * @throws TaskFailedError `task_failed` that names sub-pipeline and task
 * @throws WavetrainError `run_cancelled`, or `run_not_found` when it was forgotten while it was waited for
 */
export function planResultOf(run: PlanRun): PlanResult {
  const { id, status, result, error, failures } = run;
  if (result !== null) return { ...result, events: run.journal.events };
  switch (status) {
    case 'cancelled':
      throw new WavetrainError('run_cancelled', `run ${id} was cancelled`);
    case 'failed':
      throw new TaskFailedError(id, failures, error ?? 'failed');
    default:
      throw new WavetrainError('run_not_found', `run ${id} was forgotten before it was over`);
  }
}
