import type { Json } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { PreparedRun } from '../../execution/prepare/prepare-run.js';
import {
  type ItemOutcomes,
  measureSource,
  type RerunSource,
  toItemOutcomes,
} from '../../execution/prepare/rerun-source.js';
import type { TaskOutcome } from '../../execution/results.js';
import { STOPPED } from '../../execution/invocation/call.js';
import { Reuse } from '../../execution/run/reuse/reuse.js';
import type { ReadableWork } from '../../execution/run/readable-run.js';
import type { TaskTrace } from '../../execution/run/task-trace.js';
import type { Write } from '../../execution/session/session-overrides.js';

interface SourceOptions extends Pick<RerunSource, 'forced' | 'changedKeys'> {
  /** The rerun is given something else. */
  readonly isChanged: boolean;
  /** Items whose errors were collected run again, although their task has succeeded. */
  readonly rerunsFailedItems: boolean;
}

/**
 * Collects what a rerun can reuse of a run, or of a sub-pipeline of a plan (D60), in steps: its items may be many.
 *
 * @param earlier undefined for a sub-pipeline that the run did not have
 * @param work undefined for a sub-pipeline that has not begun
 * @param pipeline of the rerun
 */
export function* collectRerunSource(
  runId: string,
  earlier: PreparedRun | undefined,
  work: ReadableWork | undefined,
  pipeline: PreparedRun['pipeline'],
  { forced, changedKeys, isChanged, rerunsFailedItems }: SourceOptions,
): Steps<RerunSource> {
  const outcomes = new Map<string, TaskOutcome>();
  const items = new Map<string, ItemOutcomes>();
  const failed = new Set<string>();
  const aborted = listAborted(work);
  const source = {
    runId,
    given: earlier,
    givenBytes: 0,
    forced,
    outcomes,
    items,
    failed,
    aborted,
    changedKeys,
  };
  if (earlier === undefined) return source;
  const { rerunSource } = earlier;
  // A rerun that ended early has not published everything that it would have reused.
  const unreached = work?.reuse ?? (rerunSource && new Reuse(earlier, rerunSource, () => undefined));
  const failedItems = groupItems(work);
  for (const id of earlier.pipeline.waves.flat()) {
    yield;
    const task = earlier.pipeline.tasks.get(id);
    if (task === undefined) continue;
    const outcome = work?.getOutcome(id) ?? unreached?.inherit(task);
    const hasCollected = outcome?.collected !== undefined;
    if (hasCollected || failedItems.has(id)) failed.add(id);
    if (forced.has(id)) continue;
    if (outcome !== undefined && !(hasCollected && rerunsFailedItems)) {
      // A task that is gone matters only to those who read what it wrote.
      if (pipeline.tasks.has(id) || outcome.writes.length > 0) outcomes.set(id, outcome);
    } else if (pipeline.tasks.has(id)) {
      const some =
        outcome === undefined
          ? ((yield* collectItems(work?.getTrace(id), failedItems.get(id))) ?? unreached?.inheritItems(task))
          : toItemOutcomes(outcome);
      if (some !== undefined) items.set(id, some);
    }
  }
  const ownBytes = earlier.sizeBytes - (rerunSource === undefined ? 0 : measureSource(rerunSource));
  const { pipeline: definition, params, inputs, session, goal, secretDigests } = earlier;
  return {
    ...source,
    given: { pipeline: definition, params, inputs, session, goal, secretDigests },
    givenBytes: isChanged ? ownBytes : 0,
  };
}

/** The items that failed, by task id; an empty set for a task that failed as a whole. */
function groupItems(work: ReadableWork | undefined): ReadonlyMap<string, ReadonlySet<number>> {
  const groups = new Map<string, Set<number>>();
  for (const { task_id: taskId, item } of work?.failures ?? []) {
    const group = groups.get(taskId) ?? new Set<number>();
    groups.set(taskId, group);
    if (item !== undefined) group.add(item);
  }
  return groups;
}

/** Lists the tasks of which nothing has failed but what was stopped by force. */
function listAborted({ failures }: Pick<ReadableWork, 'failures'> = { failures: [] }): ReadonlySet<string> {
  const aborted = new Set(failures.map(({ task_id: taskId }) => taskId));
  for (const { task_id: taskId, error } of failures) if (error !== STOPPED) aborted.delete(taskId);
  return aborted;
}

const NONE: ReadonlySet<number> = new Set();

const ITEMS_PER_STEP = 500;

/**
 * Collects the items of a fan-out that did not succeed: those that have succeeded, and those that a rerun would have
 * reused but has not reached. Returns undefined when there are none.
 */
function* collectItems(
  { itemOutputs, itemWrites, outcomeBytes, reusable }: Partial<TaskTrace> = {},
  failed = NONE,
): Steps<ItemOutcomes | undefined> {
  if (itemOutputs === undefined) return undefined;
  const outputs: (Json | undefined)[] = [];
  const writes: (readonly Write[] | undefined)[] = [];
  let sizeBytes = outcomeBytes ?? 0;
  for (let item = 0; item < itemOutputs.length; item++) {
    const own = failed.has(item) ? undefined : itemOutputs[item];
    const unreached = own === undefined ? reusable?.get(item) : undefined;
    outputs.push(own === undefined ? unreached?.output : own);
    writes.push(unreached?.writes ?? itemWrites?.[item]);
    sizeBytes += unreached?.sizeBytes ?? 0;
    if (item % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return outputs.some((output) => output !== undefined) ? { outputs, writes, sizeBytes } : undefined;
}
