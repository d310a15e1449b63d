import { NotImplementedError } from '../common/errors.js';
import type { RunResult } from './results.js';
import type { RunInputs } from './run-inputs.js';

/**
 * What runs pipelines. The local executor runs them in this process; the distributed one hands them to workers
 * once it is configured (What the service does; D52).
 */
export interface Executor {
  /**
   * Starts a run and answers its id.
   * Rejects with `invalid_params`, `invalid_inputs` or `invalid_options` before there is a run.
   */
  submit(run: RunInputs): Promise<string>;
  /**
   * Waits until the run has settled.
   * Rejects with a TaskFailedError (`task_failed`), `run_cancelled` or `run_not_found`.
   */
  getResult(runId: string): Promise<RunResult>;
  /**
   * Cancels cooperatively: the wave at hand finishes, no further one starts (rule 12). `force` also stops the tools
   * in flight (D21). Rejects with `run_already_terminal` or `run_not_found`.
   */
  cancel(runId: string, options?: { readonly force?: boolean }): Promise<void>;
}

/** The executor that will run over several machines: until it is configured, its operations say so (D52). */
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
