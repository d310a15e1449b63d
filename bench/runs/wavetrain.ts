import { LocalExecutor } from '../../lib/execution/local-executor.js';
import type { ExecutionOptions } from '../../lib/execution/prepare/run-inputs.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';

const executor = new LocalExecutor();

/** Runs a pipeline synchronously: submits it, awaits its result and forgets it. */
export async function runWavetrain(pipeline: Pipeline, options: ExecutionOptions = {}): Promise<void> {
  const runId = await executor.submit({ pipeline, options });
  await executor.getResult(runId);
  executor.forget(runId);
}
