import { NotImplementedError } from '../common/errors.js';
import type { RunResult } from './results.js';
import type { RunInputs } from './prepare/run-inputs.js';

/** Runs pipelines: the local executor in this process, the distributed one will by workers (What the service does; D52). */
export interface Executor {
  /** Starts a run; resolves with its id. Rejects before the run exists: `invalid_params`, `invalid_inputs`, `invalid_options`. */
  submit(run: RunInputs): Promise<string>;
  /** Waits until the run has settled. Rejects with a TaskFailedError (`task_failed`, `run_timeout`), `run_cancelled` or `run_not_found`. */
  getResult(runId: string): Promise<RunResult>;
  /**
   * Cancels cooperatively: the current wave finishes, no further one starts (rule 12). `force` also aborts the tools
   * in flight (D21). Rejects with `run_already_terminal` or `run_not_found`.
   */
  cancel(runId: string, options?: { readonly force?: boolean }): Promise<void>;
}

/** The executor for several machines. Its operations reject with `not_implemented` until it is configured (D52). */
export class DistributedExecutor implements Executor {
  async submit(): Promise<string> {
    throw new NotImplementedError('submit on the distributed executor');
  }

  async getResult(): Promise<RunResult> {
    throw new NotImplementedError('getResult on the distributed executor');
  }

  async cancel(): Promise<void> {
    throw new NotImplementedError('cancel on the distributed executor');
  }
}
