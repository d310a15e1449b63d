import type { Json, JsonObject } from '../../common/json/json.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { TaskOutcome } from '../results.js';
import type { Write } from '../session/session-overrides.js';

/** The values that the tasks of a run can read besides outputs. */
export interface RunDefinition {
  readonly pipeline: Pipeline;
  readonly params: JsonObject;
  readonly inputs: JsonObject;
  readonly session: JsonObject;
  readonly goal: string;
  /** Digests of the secrets that the tasks read, by name, to be compared; undefined when they read none (D61). */
  readonly secretDigests: ReadonlyMap<string, string> | undefined;
}

/** The items of one fan-out that have succeeded. */
export interface ItemOutcomes {
  /** The outputs by item; empty where an item has not succeeded. */
  readonly outputs: readonly (Json | undefined)[];
  /** The writes by item; undefined when no item has written anything. */
  readonly writes: readonly (readonly Write[] | undefined)[] | undefined;
  /** Approximate memory of all outputs and writes, in bytes. */
  readonly sizeBytes: number;
}

/** Returns the items that succeeded; undefined when the fan-out wrote to the blackboard: its writes are kept together. */
export function toItemOutcomes({
  output,
  writes,
  collected = [],
  sizeBytes,
}: TaskOutcome): ItemOutcomes | undefined {
  if (!Array.isArray(output) || writes.length > 0) return undefined;
  if (collected.length === 0) return { outputs: output, writes: undefined, sizeBytes };
  const outputs: (Json | undefined)[] = [...output];
  for (const { item } of collected) if (item !== undefined) outputs[item] = undefined;
  return { outputs, writes: undefined, sizeBytes };
}

/** The calls of the tool of a task that an earlier run has made. */
export interface EarlierCalls {
  /** Of a fan-out. */
  readonly items?: number;
  /** Calls that have succeeded, but for those of tools that only compute. */
  readonly succeeded: number;
}

/** An earlier run whose outcomes a rerun reuses (D35, D60). */
export interface RerunSource {
  readonly runId: string;
  /** The values that the earlier run was given; undefined for a sub-pipeline that it did not have. */
  readonly given: RunDefinition | undefined;
  /** Memory of the values of the earlier run, if the rerun was given others, in bytes. */
  readonly givenBytes: number;
  /** Why a task runs again in any case, as the end of a sentence, by task id. */
  readonly forced: ReadonlyMap<string, string>;
  /** The tasks of which the request names items, which run again. */
  readonly named: ReadonlySet<string>;
  /** By task id; without tasks that have not begun. */
  readonly calls: ReadonlyMap<string, EarlierCalls>;
  /** The tasks that failed, or items of which did. */
  readonly failed: ReadonlySet<string>;
  /** The failed tasks that have failed only because the run was cancelled by force (D21). */
  readonly aborted: ReadonlySet<string>;
  /** The outcomes of the tasks that had succeeded and are not forced to run again, by task id. */
  readonly outcomes: ReadonlyMap<string, TaskOutcome>;
  /** The outcomes of the fan-outs of which only some items had succeeded, by task id. */
  readonly items: ReadonlyMap<string, ItemOutcomes>;
  /** The keys of the blackboard that the rerun has written otherwise than the earlier run: one set for all of a plan. */
  readonly changedKeys: Set<string>;
}

/** An earlier run of a plan, with what each sub-pipeline can reuse, by its id. */
export interface PlanRerunSource {
  readonly runId: string;
  readonly subRuns: ReadonlyMap<string, RerunSource>;
}

/** Returns true when a run may reuse files of the earlier one. */
export function canReuse(source: RerunSource | PlanRerunSource | undefined): boolean {
  if (source === undefined) return false;
  if ('subRuns' in source) return [...source.subRuns.values()].some(canReuse);
  return source.outcomes.size > 0 || source.items.size > 0;
}

/** A rerun keeps what it may reuse, whether or not the run that made it is forgotten. */
export function measureSource({ outcomes, items, givenBytes }: RerunSource): number {
  let bytes = givenBytes;
  for (const { sizeBytes } of outcomes.values()) bytes += sizeBytes;
  for (const { sizeBytes } of items.values()) bytes += sizeBytes;
  return bytes;
}
