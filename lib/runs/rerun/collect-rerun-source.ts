import type { Json } from '../../common/json/json.js';
import { WavetrainError } from '../../common/errors.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { PreparedRun } from '../../execution/prepare/prepare-run.js';
import {
  type EarlierCalls,
  type ItemOutcomes,
  measureSource,
  type RerunSource,
  toItemOutcomes,
} from '../../execution/prepare/rerun-source.js';
import type { TaskOutcome } from '../../execution/results.js';
import { STOPPED } from '../../execution/invocation/call.js';
import { countDefined } from '../../execution/run/reuse/reusable-items.js';
import { Reuse } from '../../execution/run/reuse/reuse.js';
import type { ReadableWork } from '../../execution/run/readable-run.js';
import type { TaskTrace } from '../../execution/run/task-trace.js';
import type { Write } from '../../execution/session/session-overrides.js';
import type { NamedItems } from './rerun-start.js';

/** A task of a pipeline. */
type Task = NonNullable<ReturnType<PreparedRun['pipeline']['tasks']['get']>>;

interface SourceOptions extends Pick<RerunSource, 'forced' | 'changedKeys'> {
  /** The items that run again, of a task that is not forced. */
  readonly named: NamedItems | undefined;
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
  { forced, named, changedKeys, isChanged, rerunsFailedItems }: SourceOptions,
): Steps<RerunSource> {
  const outcomes = new Map<string, TaskOutcome>();
  const items = new Map<string, ItemOutcomes>();
  const failed = new Set<string>();
  const calls = new Map<string, EarlierCalls>();
  const aborted = listAborted(work);
  const source = {
    runId,
    given: earlier,
    givenBytes: 0,
    forced,
    named: new Set(named === undefined ? [] : [named.task, ...named.followers]),
    calls,
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
    const isFollower = named?.followers.has(id) === true;
    const isKept =
      outcome !== undefined && !(hasCollected && rerunsFailedItems) && named?.task !== id && !isFollower;
    const some = isKept
      ? undefined
      : outcome === undefined
        ? ((yield* collectItems(work?.getTrace(id), failedItems.get(id))) ?? unreached?.inheritItems(task))
        : toItemOutcomes(outcome);
    const made = countCalls(task, outcome, some);
    if (made !== undefined) calls.set(id, made);
    if (forced.has(id)) continue;
    if (isKept) {
      // A task that is gone matters only to those who read what it wrote.
      if (pipeline.tasks.has(id) || outcome.writes.length > 0) outcomes.set(id, outcome);
    } else if (named?.task === id) {
      if (some === undefined || task.parallelOver === undefined)
        refuseItems(id, task.parallelOver !== undefined && (outcome?.writes.length ?? 0) > 0);
      items.set(id, { ...some, outputs: withoutItems(some.outputs, named) });
    } else if (some !== undefined && pipeline.tasks.has(id)) {
      const runs = isFollower ? named.ranges : [];
      items.set(id, runs.length === 0 ? some : { ...some, outputs: withoutRanges(some.outputs, runs) });
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

/** The calls of a task that have succeeded; undefined when none has. */
function countCalls(
  { tool, parallelOver }: Task,
  outcome: TaskOutcome | undefined,
  some: ItemOutcomes | undefined,
): EarlierCalls | undefined {
  // A tool that only computes costs nothing to be called again.
  const counts = tool.pure !== true;
  if (parallelOver === undefined) return outcome && counts ? { succeeded: 1 } : undefined;
  const { output, collected = [] } = outcome ?? {};
  const items = Array.isArray(output) ? output.length : some?.outputs.length;
  if (items === undefined) return undefined;
  const succeeded = outcome === undefined ? countDefined(some?.outputs ?? []) : items - collected.length;
  return { items, succeeded: counts ? succeeded : 0 };
}

/**
 * Returns the outputs without those of the items that run again.
 *
 * @throws WavetrainError `invalid_request` for an item that there is not
 */
function withoutItems<T>(
  outputs: readonly (T | undefined)[],
  { task, ranges }: NamedItems,
): (T | undefined)[] {
  for (const [, last] of ranges) {
    if (last < outputs.length) continue;
    const has = `it has ${outputs.length} items, from 0 to ${outputs.length - 1}`;
    throw new WavetrainError('invalid_request', `"${task}" has no item ${last}: ${has}`);
  }
  return withoutRanges(outputs, ranges);
}

function withoutRanges<T>(
  outputs: readonly (T | undefined)[],
  ranges: NamedItems['ranges'],
): (T | undefined)[] {
  const left = [...outputs];
  for (const [first, last] of ranges) left.fill(undefined, first, last + 1);
  return left;
}

/** @throws WavetrainError `invalid_request` for a task whose items cannot run again one by one */
function refuseItems(task: string, hasStored: boolean): never {
  throw new WavetrainError(
    'invalid_request',
    hasStored
      ? `the items of "${task}" cannot run again one by one, because they have stored values: name the task`
      : `"${task}" has no items: it is no fan-out, or has not begun; name the task`,
  );
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
