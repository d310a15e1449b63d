import { matchesLabels } from '../../../common/wire/labels.js';
import type { RemoveQuery } from '../../../client/index.js';
import type { KeptRuns } from '../../../runs/store/shell/kept-runs.js';
import { createRunFinder, findListed, type RunOfList } from './kept-listing.js';

/** The runs of the history that a query selects, and how many of them must stay. */
export interface KeptSelection {
  /** Ids of those that can be deleted, the newest first. */
  readonly leaving: readonly string[];
  /** In files that other shells have. */
  readonly inUse: number;
  /** Runs whose files others that stay may use. */
  readonly needed: number;
}

/** How many runs of the history a command has deleted, and why it has left others that it was to delete. */
interface RemovedKeptRuns extends Pick<KeptSelection, 'inUse' | 'needed'> {
  readonly deleted: number;
}

/** Finds the runs of the history that a query selects and that have ended. */
export function selectKept(query: RemoveQuery, history: KeptRuns): KeptSelection {
  const ids = history.ids();
  const isSelected = createSelector(query, history);
  const selected = ids.filter(isSelected);
  const free = new Set(selected.filter((id) => !history.isInUse(id)));
  const staying = ids.filter((id) => !free.has(id));
  const needed = new Set([...history.sourcesOf(staying).values()].flat());
  const leaving = [...free].filter((id) => !needed.has(id));
  return { leaving, inUse: selected.length - free.size, needed: free.size - leaving.length };
}

/** Deletes the runs of the history that a query selects and that have ended. */
export async function removeKept(query: RemoveQuery, history: KeptRuns): Promise<RemovedKeptRuns> {
  const { leaving, inUse, needed } = selectKept(query, history);
  const deleted = await history.removeUnused(leaving);
  // A shell may have taken a file meanwhile.
  return { deleted, inUse: inUse + leaving.length - deleted, needed };
}

function createSelector(query: RemoveQuery, history: KeptRuns): (id: string) => boolean {
  const { pipeline_id: pipelineId, tenant_id: tenantId, status, label = [], text } = query;
  const before = query.finished_before === undefined ? undefined : Date.parse(query.finished_before);
  const finds = text === undefined ? undefined : createRunFinder(text);
  return (id) => {
    if (history.isAtWork(id)) return false;
    const run = findListed(id, history);
    if (run === undefined) return false;
    if (pipelineId !== undefined && run.pipeline_id !== pipelineId) return false;
    if (tenantId !== undefined && run.tenant_id !== tenantId) return false;
    if (status !== undefined && run.status !== status) return false;
    if (!matchesLabels(label, run.labels) || finds?.(run) === false) return false;
    return before === undefined || endOf(run, history) < before;
  };
}

/** Of a run that has not settled, when the last thing happened that is known of it: that reads all of the run. */
function endOf(
  { run_id: id, finished_at: finishedAt, created_at: createdAt }: RunOfList,
  history: KeptRuns,
): number {
  if (finishedAt !== null) return Date.parse(finishedAt);
  const run = history.read(id);
  const last = run && history.withFacts(run).facts.at(-1);
  return last !== undefined && 'at' in last ? last.at : Date.parse(createdAt);
}
