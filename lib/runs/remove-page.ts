import type { RemovedRunsSchema } from '../common/wire/run.js';
import type { Shape } from '../common/wire/shape.js';
import type { ArchivedRuns } from './store/archived-runs.js';
import type { RunIndex } from './views/run-index.js';
import type { RunQueries } from './views/run-queries.js';
import type { RunQuery } from './views/run-query.js';

/** The runs that one request has deleted. */
export interface RemovedRuns extends Shape<typeof RemovedRunsSchema> {}

interface RemovalParts {
  readonly queries: RunQueries;
  readonly runs: RunIndex;
  readonly archived: ArchivedRuns | undefined;
  /** Deletes a run that is in memory. */
  readonly forget: (runId: string) => void;
}

/**
 * Deletes the settled runs of one page of a list (D74), and returns how many, with the cursor of the next page; null after the
 * last one. Rejects as `RunQueries.listInTurns`.
 *
 * @param finishedBeforeMs only runs that have settled earlier, in milliseconds since 1970
 * @param tenantId of the caller
 */
export async function removePage(
  query: RunQuery,
  finishedBeforeMs: number,
  tenantId: string,
  { queries, runs, archived, forget }: RemovalParts,
): Promise<RemovedRuns> {
  const { createdBeforeMs = finishedBeforeMs } = query;
  // A run that was submitted later has not settled earlier.
  const bounded = { ...query, createdBeforeMs: Math.min(createdBeforeMs, finishedBeforeMs) };
  const page = await queries.listInTurns(bounded, tenantId);
  let deleted = 0;
  for (const { run_id: runId, settled, finished_at: finishedAt } of page.runs) {
    if (!settled || finishedAt === null || Date.parse(finishedAt) >= finishedBeforeMs) continue;
    if (runs.has(runId)) forget(runId);
    else await archived?.remove(runId, tenantId);
    deleted++;
  }
  return { deleted, next_cursor: page.next_cursor };
}
