import { TaskFailedError, WavetrainError } from '../errors.js';
import type { Json } from '../json.js';
import type { TaskEvent } from './event.js';
import type { LocalRun } from './local-run.js';

/** What a run that succeeded produced. */
export interface RunOutcome {
  /** Task id to output. */
  readonly outputs: Record<string, Json>;
  readonly waves_executed: number;
  /** Tool invocations, each item counted (D20). */
  readonly tasks_executed: number;
}

/** The result of a run that was waited for (RunResult). */
export interface RunResult extends RunOutcome {
  readonly events: readonly TaskEvent[] | null;
}

/** What a run has produced so far. */
export function outcomeOf(run: LocalRun): RunOutcome {
  return {
    outputs: run.work.outputs,
    waves_executed: run.wavesExecuted,
    tasks_executed: run.invocations,
  };
}

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
