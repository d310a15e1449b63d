import { WavetrainError } from '../common/errors.js';
import type { RunRegistry } from '../runs/registry.js';
import { type Caller, mayUse } from './caller.js';

/**
 * The id of a run that the caller may see. What it may not see is not there for it (D37).
 *
 * @throws WavetrainError `run_not_found`
 */
export function visibleRun(registry: RunRegistry, caller: Caller, runId: string): string {
  if (mayUse(caller, registry.tenantOf(runId))) return runId;
  throw new WavetrainError('run_not_found', `there is no run ${runId}`);
}
