import { TaskFailedError, WavetrainError } from '../errors.js';
import type { LocalRun } from './local-run.js';
import { outcomeOf, type RunResult } from './run-outcome.js';

export type { RunOutcome, RunResult } from './run-outcome.js';

/**
 * The result of a settled run that succeeded (RunResult).
 *
 * @throws TaskFailedError `task_failed` with the first failure in time, and all of them (D16)
 * @throws WavetrainError `run_cancelled`, or `run_not_found` when it was forgotten while it was waited for
 */
export function resultOf(run: LocalRun): RunResult {
  const { id } = run.prepared;
  const { failures } = run.work;
  switch (run.status) {
    case 'succeeded':
      return { ...outcomeOf(run), events: run.journal.events };
    case 'cancelled':
      throw new WavetrainError('run_cancelled', `run ${id} was cancelled`);
    case 'failed':
      throw new TaskFailedError(id, failures, run.error ?? 'failed');
    default:
      throw new WavetrainError('run_not_found', `run ${id} was forgotten before it was over`);
  }
}
