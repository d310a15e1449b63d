import type { TaskFailure } from '../common/errors.js';
import type { PreparedRun } from '../execution/prepare/prepare-run.js';
import { type ItemOutcomes, measureSource, type RerunSource } from '../execution/prepare/rerun-source.js';
import { Reuse } from '../execution/run/reuse.js';
import type { RunWork } from '../execution/run/run-work.js';
import type { TaskOutcome } from '../execution/results.js';

interface SourceOptions extends Pick<RerunSource, 'forced' | 'changedKeys'> {
  /** The rerun is given something else. */
  readonly isChanged: boolean;
  /** Items whose errors were collected run again, although their task has succeeded. */
  readonly rerunsFailedItems: boolean;
}

/**
 * Collects what a rerun can reuse of a run, or of a sub-pipeline of a plan (D60).
 *
 * @param earlier undefined for a sub-pipeline that the run did not have
 * @param work undefined for a sub-pipeline that has not begun
 * @param pipeline of the rerun
 */
export function createSource(
  runId: string,
  earlier: PreparedRun | undefined,
  work: RunWork | undefined,
  pipeline: PreparedRun['pipeline'],
  { forced, changedKeys, isChanged, rerunsFailedItems }: SourceOptions,
): RerunSource {
  const outcomes = new Map<string, TaskOutcome>();
  const items = new Map<string, ItemOutcomes>();
  const failed = new Set<string>();
  const source = { runId, given: earlier, givenBytes: 0, forced, outcomes, items, failed, changedKeys };
  if (earlier === undefined) return source;
  const { rerunSource } = earlier;
  // A rerun that ended early has not published everything that it would have reused.
  const unreached = work?.reuse ?? (rerunSource && new Reuse(earlier, rerunSource, () => undefined));
  const failures = groupItems(work?.failures ?? []);
  for (const id of earlier.pipeline.waves.flat()) {
    const task = earlier.pipeline.tasks.get(id);
    if (task === undefined) continue;
    const outcome = work?.getOutcome(id) ?? unreached?.inherit(task);
    const failedItems = failures.get(id);
    if (failedItems !== undefined) failed.add(id);
    if (forced.has(id)) continue;
    if (outcome !== undefined && (failedItems === undefined || !rerunsFailedItems)) {
      // A task that is gone matters only to those who read what it wrote.
      if (pipeline.tasks.has(id) || outcome.writes.length > 0) outcomes.set(id, outcome);
    } else if (pipeline.tasks.has(id)) {
      const some = work === undefined ? undefined : collectItems(id, work, failedItems);
      const kept = some ?? unreached?.inheritItems(task);
      if (kept !== undefined) items.set(id, kept);
    }
  }
  const ownBytes = earlier.sizeBytes - (rerunSource === undefined ? 0 : measureSource(rerunSource));
  const { pipeline: definition, params, inputs, session, goal } = earlier;
  return {
    ...source,
    given: { pipeline: definition, params, inputs, session, goal },
    givenBytes: isChanged ? ownBytes : 0,
  };
}

/** The items that failed, by task id; an empty set for a task that failed as a whole. */
function groupItems(failures: readonly TaskFailure[]): ReadonlyMap<string, Set<number>> {
  const groups = new Map<string, Set<number>>();
  for (const { task_id: taskId, item } of failures) {
    const group = groups.get(taskId) ?? new Set<number>();
    groups.set(taskId, group);
    if (item !== undefined) group.add(item);
  }
  return groups;
}

/** The items of a fan-out that have succeeded; undefined when there are none, or when it is not known what they wrote. */
function collectItems(
  taskId: string,
  work: RunWork,
  failed: ReadonlySet<number> | undefined,
): ItemOutcomes | undefined {
  const trace = work.getTrace(taskId);
  const outputs = trace?.itemOutputs?.map((output, item) =>
    failed?.has(item) === true ? undefined : output,
  );
  if (trace === undefined || outputs?.some((output) => output !== undefined) !== true) return undefined;
  // What a task that succeeded has written is on the blackboard already, and appending it again would duplicate it.
  if ((work.getOutcome(taskId)?.writes.length ?? 0) > 0) return undefined;
  return { outputs, writes: trace.itemWrites, sizeBytes: trace.outcomeBytes };
}
