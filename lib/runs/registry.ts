import type { LiveEvent } from '../execution/event.js';
import { LocalExecutor, type LocalExecutorOptions } from '../execution/local.js';
import type { RunInputs } from '../execution/run-inputs.js';
import { type RunRecord, recordOf } from './record.js';

/** Runs by id: the one door to them for the command line and the API (law L2). */
export class RunRegistry {
  readonly #executor: LocalExecutor;

  constructor(options: LocalExecutorOptions = {}) {
    this.#executor = new LocalExecutor(options);
  }

  /**
   * Accepts a run and answers its id. Rejects with `invalid_params`, `invalid_inputs` or `invalid_options` before
   * there is a run.
   *
   * @param onEvent hears every event of the run, from the first on
   */
  submit(run: RunInputs, onEvent?: (event: LiveEvent) => void): Promise<string> {
    return this.#executor.submit(run, onEvent);
  }

  /** The run as it is now. Throws `run_not_found`. */
  record(runId: string): RunRecord {
    return recordOf(this.#executor.run(runId));
  }

  /** The run once nothing of it is at work any more. Rejects with `run_not_found`. */
  async settled(runId: string): Promise<RunRecord> {
    const run = this.#executor.run(runId);
    await run.settled;
    return recordOf(run);
  }

  /** Cancels (rule 12, D21) and answers the record. Rejects with `run_not_found` or `run_already_terminal`. */
  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<RunRecord> {
    await this.#executor.cancel(runId, options);
    return this.record(runId);
  }

  /** Drops a run; one that is still at work is stopped. */
  forget(runId: string): void {
    this.#executor.forget(runId);
  }
}
