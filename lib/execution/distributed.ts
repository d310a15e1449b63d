import { NotImplementedError } from '../common/errors.js';
import type { Executor } from './executor.js';
import type { RunResult } from './run-outcome.js';

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
