import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { RunFacts } from '../../runs/registry.js';
import type { Log } from '../services.js';

/**
 * Nobody may be waiting for a run that fails: the log is where it is looked for. Tells what it failed of, how many
 * failures there are, and of a plan which sub-pipelines failed.
 *
 * @param lookUp the record of the run as it is now
 */
export function tellFailure(
  event: LiveEvent,
  { run_id, pipeline_id, tenant_id }: RunFacts,
  log: Log,
  lookUp: (runId: string) => RunRecord,
): void {
  if (event.kind !== 'run' || event.error === undefined) return;
  const { failures, sub_pipelines: statuses } = lookUp(run_id);
  const failed = Object.entries(statuses ?? {}).flatMap(([id, status]) => (status === 'failed' ? [id] : []));
  const facts = { run_id, pipeline_id, tenant_id, error: event.error, failures: failures.length };
  log.warn(statuses === null ? facts : { ...facts, sub_pipelines_failed: failed }, 'a run failed');
}
