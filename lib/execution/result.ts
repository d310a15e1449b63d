import { TaskFailedError, WavetrainError } from '../common/errors.js';
import type { TaskEvent } from './event.js';
import type { ActorRun } from './actor-run.js';

/**
 * The result of a settled run that succeeded, with its events (RunResult, D47).
 *
 * @throws TaskFailedError `task_failed` with the first failure in time, and all of them (D16)
 * @throws WavetrainError `run_cancelled`, or `run_not_found` when it was forgotten while it was waited for
 */
export function resultOf<O extends object>(
  run: Pick<ActorRun, 'id' | 'status' | 'error' | 'failures' | 'journal'> & { readonly result: O | null },
): O & { readonly events: readonly TaskEvent[] | null } {
  const { id, status, result, error, failures, journal } = run;
  if (result !== null) return { ...result, events: journal.events };
  switch (status) {
    case 'cancelled':
      throw new WavetrainError('run_cancelled', `run ${id} was cancelled`);
    case 'failed':
      throw new TaskFailedError(id, failures, error ?? 'failed');
    default:
      throw new WavetrainError('run_not_found', `run ${id} was forgotten before it was over`);
  }
}
