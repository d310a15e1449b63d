import type { RemoveQuery } from '../../client/index.js';
import type { KeptRuns } from '../../runs/store/shell/kept-runs.js';

/** How many runs of the history a command has deleted, and why it has left others that it was to delete. */
interface RemovedKeptRuns {
  readonly deleted: number;
  /** In files that other shells have. */
  readonly inUse: number;
  /** Runs whose files others that stay may use. */
  readonly needed: number;
}

/** Deletes the runs of the history that a query selects and that have ended. */
export async function removeKept(query: RemoveQuery, history: KeptRuns): Promise<RemovedKeptRuns> {
  const ids = history.ids();
  const selected = ids.filter((id) => isSelected(id, query, history));
  const free = new Set(selected.filter((id) => !history.isInUse(id)));
  const staying = ids.filter((id) => !free.has(id));
  const needed = new Set([...history.sourcesOf(staying).values()].flat());
  const leaving = [...free].filter((id) => !needed.has(id));
  const deleted = await history.removeUnused(leaving);
  // A shell may have taken a file meanwhile.
  const inUse = selected.length - free.size + leaving.length - deleted;
  return { deleted, inUse, needed: free.size - leaving.length };
}

function isSelected(
  id: string,
  { pipeline_id: pipelineId, tenant_id: tenantId, status, finished_before: before }: RemoveQuery,
  history: KeptRuns,
): boolean {
  const run = history.summary(id) ?? findInterrupted(id, history);
  if (run === undefined) return false;
  if (pipelineId !== undefined && run.pipeline_id !== pipelineId) return false;
  if (tenantId !== undefined && run.tenant_id !== tenantId) return false;
  if (status !== undefined && run.status !== status) return false;
  if (before === undefined) return true;
  const finishedAt = 'finished_at' in run ? Date.parse(run.finished_at ?? '') : run.endedAt();
  return finishedAt < Date.parse(before);
}

/** A run that has not settled because its process has ended; undefined while that is at work. */
function findInterrupted(id: string, history: KeptRuns) {
  const run = history.isAtWork(id) ? undefined : history.read(id);
  if (run === undefined) return undefined;
  const { definition, tenant_id } = run.submission;
  return {
    status: 'interrupted',
    pipeline_id: definition['id'],
    tenant_id,
    /** When the last thing happened that is known of it. Reads all of the run. */
    endedAt: (): number => {
      const last = history.withFacts(run).facts.at(-1);
      return last !== undefined && 'at' in last ? last.at : run.createdAt;
    },
  };
}
