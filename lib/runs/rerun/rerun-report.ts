import type { Steps } from '../../common/scheduling/steps.js';
import type { ReadableRun } from '../../execution/run/readable-run.js';
import type { PreparedRun } from '../../execution/prepare/prepare-run.js';
import type { RerunSource } from '../../execution/prepare/rerun-source.js';
import { SkipForecast } from '../../execution/run/reuse/skip-forecast.js';
import { Reuse } from '../../execution/run/reuse/reuse.js';
import type { AcceptedRerunSchema, RerunReportSchema } from '../../common/wire/run.js';
import type { Shape } from '../../common/wire/shape.js';

/** Why a task runs that is as it was, and that no other task makes run. The shell prints these apart from changes. */
export type StateReason =
  | 'has items that are named in "from"'
  | 'has items that are named in "from" or have not succeeded'
  | 'has items that have not succeeded'
  | 'has failed'
  | 'was aborted'
  | 'has not run';

/** How the reason of a task begins that runs because of another one. */
export type DependencyStart = 'depends on "';

/** The tasks that a rerun reuses and runs, as far as they are known before it begins (D60). */
export interface RerunReport extends Shape<typeof RerunReportSchema> {}

export type RerunTask = RerunReport['reused'][number];

/** A task that is skipped, whatever the others do (D78). */
type SkippingTask = NonNullable<RerunReport['skips']>[number];

/** A task that runs again, or that may: when it begins, it is reused if what it reads is as it was. */
export type RerunningTask = RerunReport['runs'][number];

export interface AcceptedRerun extends Shape<typeof AcceptedRerunSchema> {}

export function* hasRunningTask(prepared: ReadableRun['prepared']): Steps<boolean> {
  const { runs, skips } = yield* describeAllTasks(prepared, 1);
  return runs.length + skips.length > 0;
}

/** Describes what a rerun reuses and what it runs, in steps: its tasks may be thousands. */
export function* describeRerun(prepared: ReadableRun['prepared']): Steps<RerunReport> {
  const { skips, ...tasks } = yield* describeAllTasks(prepared, Number.POSITIVE_INFINITY);
  const report = skips.length === 0 ? tasks : { ...tasks, skips };
  if (!('subRuns' in prepared)) {
    const { pipeline, rerunSource } = prepared;
    return { ...report, warnings: rerunSource?.given?.pipeline === pipeline ? [] : pipeline.warnings };
  }
  const isSame = [...prepared.subRuns.values()].every(
    ({ pipeline, rerunSource }) => rerunSource?.given?.pipeline === pipeline,
  );
  return { ...report, warnings: isSame ? [] : prepared.plan.warnings };
}

interface DescribedTasks {
  readonly reused: RerunTask[];
  readonly runs: RerunningTask[];
  readonly skips: SkippingTask[];
}

/** @param limit stops when so many tasks run */
function* describeAllTasks(prepared: ReadableRun['prepared'], limit: number): Steps<DescribedTasks> {
  const tasks: DescribedTasks = { reused: [], runs: [], skips: [] };
  const changedKeys = new Set<string>();
  if (!('subRuns' in prepared)) {
    yield* describeTasks(prepared, {}, changedKeys, tasks, limit);
    return tasks;
  }
  for (const id of prepared.plan.statistics.order) {
    const subRun = prepared.subRuns.get(id);
    if (subRun !== undefined) yield* describeTasks(subRun, { sub_pipeline: id }, changedKeys, tasks, limit);
  }
  return tasks;
}

/** @param changedKeys keys that may have another value than before; those of this pipeline are added */
function* describeTasks(
  prepared: PreparedRun,
  location: Pick<RerunTask, 'sub_pipeline'>,
  changedKeys: Set<string>,
  { reused, runs, skips }: DescribedTasks,
  limit: number,
): Steps<void> {
  const { pipeline, rerunSource } = prepared;
  if (rerunSource === undefined) return;
  const source = { ...rerunSource, changedKeys };
  // As if nothing of the rerun had run: whatever depends on a task that is not reused is not reused either.
  const reuse = new Reuse(prepared, source, () => undefined);
  const forecast = new SkipForecast(prepared);
  const running = new Set<string>();
  for (const taskId of pipeline.waves.flat()) {
    const task = pipeline.tasks.get(taskId);
    if (runs.length + skips.length >= limit) return;
    if (task === undefined) continue;
    yield;
    const located = { ...location, task_id: taskId };
    const foreseen = forecast.foresee(task);
    const dependency = task.upstream.find((id) => running.has(id));
    // Nobody knows what a task will read of one that runs.
    const isKnown = foreseen === 'runs' && dependency === undefined;
    const inherited = isKnown ? reuse.inherit(task) : undefined;
    if (inherited !== undefined) {
      forecast.onReused(taskId, inherited);
      reused.push(located);
      continue;
    }
    running.add(taskId);
    const outcome = source.outcomes.get(taskId);
    for (const { key } of outcome?.writes ?? []) changedKeys.add(key);
    for (const [key, storing] of pipeline.contract.stores) if (storing === taskId) changedKeys.add(key);
    if (typeof foreseen === 'object') {
      skips.push({ ...located, reason: foreseen.reason });
      continue;
    }
    const reason =
      reuse.findChange(task) ??
      describeFollowed(reuse.findFollowed(task)) ??
      describeState(taskId, source) ??
      (dependency === undefined ? 'reads a key that may change' : describeDependency(dependency));
    const decided = foreseen === 'open' ? ({ decided_anew: true } as const) : {};
    const reusable = reuse.countReusableItems(task);
    const { items, succeeded = 0 } = source.calls.get(taskId) ?? {};
    const counts = { reusable_items: reusable, ...(items !== undefined && { items }) };
    const repeats = Math.max(0, succeeded - reusable);
    runs.push({ ...located, reason, ...counts, repeats, ...decided });
  }
}

export function describeDependency(taskId: string): `${DependencyStart}${string}"` {
  return `depends on "${taskId}"`;
}

/** Why a fan-out over the output of a task runs, of which the request names items. */
function describeFollowed(taskId: string | undefined): string | undefined {
  return taskId && `${describeDependency(taskId)}, of which items are named in "from"`;
}

function describeState(
  taskId: string,
  { outcomes, items, named, calls, failed, aborted }: RerunSource,
): StateReason | undefined {
  if (outcomes.has(taskId)) return undefined;
  if (named.has(taskId)) {
    const { items: all = 0, succeeded = all } = calls.get(taskId) ?? {};
    return succeeded > 0 && all - succeeded > 1
      ? 'has items that are named in "from" or have not succeeded'
      : 'has items that are named in "from"';
  }
  if (items.has(taskId)) return 'has items that have not succeeded';
  if (aborted.has(taskId)) return 'was aborted';
  return failed.has(taskId) ? 'has failed' : 'has not run';
}
