import type { TaskFailure } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import { estimateLength } from '../../common/json/json-writer.js';
import type { PublishedFile } from '../../execution/invocation/files/published-file.js';
import type { PreparedRun } from '../../execution/prepare/prepare-run.js';
import type {
  EarlierCalls,
  ItemOutcomes,
  RunDefinition,
  RerunSource,
} from '../../execution/prepare/rerun-source.js';
import type { TaskOutcome } from '../../execution/results.js';
import type { Write } from '../../execution/session/session-overrides.js';

/**
 * A part of everything that a rerun may reuse, as JSON (D68): all parts may be a gigabyte. They are kept with the rerun
 * when it is accepted, so that it can be rebuilt whatever has become of the run that it repeats, of the tools and of
 * the secrets.
 */
export type SourcePart =
  | EarlierPlan
  | SourceBegins
  | OutcomeBegins
  | { readonly part: 'items'; readonly items: readonly StoredItem[] }
  | { readonly part: 'writes'; readonly writes: readonly Write[] }
  | { readonly part: 'collected'; readonly collected: readonly TaskFailure[] }
  | SourceFiles
  | { readonly part: 'complete' };

/** The plan of the earlier run, when the rerun has another one. */
export interface EarlierPlan {
  readonly part: 'plan';
  readonly definition: JsonObject;
  readonly pipelines: Readonly<Record<string, JsonObject>>;
}

/** Of a pipeline, or of a sub-pipeline of a plan: its outcomes follow. */
export interface SourceBegins {
  readonly part: 'source';
  /** Undefined for the run of a pipeline. */
  readonly sub_pipeline?: string;
  /** Each reason with the tasks that run again because of it. */
  readonly forced: readonly (readonly [string, readonly string[]])[];
  readonly failed: readonly string[];
  /** The failed tasks that were aborted; only when there are any. */
  readonly aborted?: readonly string[];
  /** The tasks of which items are named; only when there are any. */
  readonly named?: readonly string[];
  /** The calls that have succeeded, and the items, by task. */
  readonly calls?: readonly (readonly [string, number, number?])[];
  readonly given_bytes: number;
  /** Undefined for a sub-pipeline that the earlier run did not have. */
  readonly given?: StoredGiven;
}

/** The definition and the values of the earlier run, as far as the rerun is given others. */
export interface StoredGiven {
  /** Of a pipeline that is not part of a plan. */
  readonly definition?: JsonObject;
  readonly params?: StoredValues;
  readonly inputs?: StoredValues;
  readonly session?: StoredValues;
  readonly goal?: string;
  /** Secrets that have another value in the rerun. Their digests say nothing to another process. */
  readonly changed_secrets?: readonly string[];
}

/** In order; without its value where the rerun has the same one, so that it need not be compared. */
type StoredValues = readonly (readonly [string, Json] | readonly [string])[];

/** A task that had succeeded, or items of one: what does not follow in parts of its own. */
export interface OutcomeBegins {
  readonly part: 'outcome' | 'item_outcomes';
  readonly task: string;
  readonly bytes: number;
  readonly output?: Json;
  /** Of a list whose items follow. */
  readonly length?: number;
  readonly has_item_writes?: true;
}

type StoredItem = readonly [number, Json] | readonly [number, Json, readonly Write[]];

export interface SourceFiles {
  readonly part: 'files';
  readonly files: readonly PublishedFile[];
}

/** About so many characters of items are one part. */
const GROUP_LENGTH = 256 * 1024;

/**
 * Writes what a rerun may reuse of a run, or of a sub-pipeline of one.
 *
 * @param prepared of the rerun, or of its sub-pipeline
 */
export function* writeSource(
  { forced, named, calls, failed, aborted, givenBytes, given, outcomes, items }: RerunSource,
  prepared: PreparedRun,
  subPipeline?: string,
): Iterable<SourcePart> {
  yield {
    part: 'source',
    ...(subPipeline !== undefined && { sub_pipeline: subPipeline }),
    forced: groupByReason(forced),
    failed: [...failed],
    ...(aborted.size > 0 && { aborted: [...aborted] }),
    ...(named.size > 0 && { named: [...named] }),
    ...(calls.size > 0 && { calls: Array.from(calls, toStoredCalls) }),
    given_bytes: givenBytes,
    ...(given && { given: compareGiven(given, prepared, subPipeline === undefined) }),
  };
  for (const [task, outcome] of outcomes) yield* writeOutcome(task, outcome);
  for (const [task, outcome] of items) yield* writeItemOutcomes(task, outcome);
}

function toStoredCalls([task, { succeeded, items }]: [string, EarlierCalls]): [string, number, number?] {
  return items === undefined ? [task, succeeded] : [task, succeeded, items];
}

function groupByReason(forced: ReadonlyMap<string, string>): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const [task, reason] of forced) {
    const tasks = groups.get(reason);
    if (tasks === undefined) groups.set(reason, [task]);
    else tasks.push(task);
  }
  return [...groups];
}

function compareGiven(given: RunDefinition, now: RunDefinition, hasDefinition: boolean): StoredGiven {
  const { pipeline, goal, secretDigests } = given;
  const params = compareValues(given.params, now.params);
  const inputs = compareValues(given.inputs, now.inputs);
  const session = compareValues(given.session, now.session);
  const changed = [...now.pipeline.contract.secrets.keys()].filter(
    (name) => secretDigests?.get(name) !== now.secretDigests?.get(name),
  );
  return {
    ...(hasDefinition &&
      pipeline !== now.pipeline && { definition: pipeline.definition as unknown as JsonObject }),
    ...(params && { params }),
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(goal !== now.goal && { goal }),
    ...(changed.length > 0 && { changed_secrets: changed }),
  };
}

function compareValues(before: JsonObject, now: JsonObject): StoredValues | undefined {
  if (before === now) return undefined;
  let isSame = Object.keys(before).length === Object.keys(now).length;
  const values = Object.entries(before).map(([key, value]): StoredValues[number] => {
    if (Object.hasOwn(now, key) && now[key] === value) return [key];
    isSame = false;
    return [key, value];
  });
  return isSame ? undefined : values;
}

function* writeOutcome(
  task: string,
  { output, writes, collected = [], sizeBytes: bytes }: TaskOutcome,
): Iterable<SourcePart> {
  const isSplit = Array.isArray(output) && bytes > GROUP_LENGTH;
  yield { part: 'outcome', task, bytes, ...(isSplit ? { length: output.length } : { output }) };
  if (isSplit) yield* writeItems(output);
  for (const group of inGroups(writes)) yield { part: 'writes', writes: group };
  for (const group of inGroups(collected)) yield { part: 'collected', collected: group };
}

function* writeItemOutcomes(
  task: string,
  { outputs, writes, sizeBytes: bytes }: ItemOutcomes,
): Iterable<SourcePart> {
  const { length } = outputs;
  yield { part: 'item_outcomes', task, bytes, length, ...(writes && { has_item_writes: true }) };
  yield* writeItems(outputs, writes);
}

function* writeItems(
  outputs: ItemOutcomes['outputs'],
  writes?: ItemOutcomes['writes'],
): Iterable<SourcePart> {
  for (const items of inGroups(toItems(outputs, writes))) yield { part: 'items', items };
}

function* toItems(outputs: ItemOutcomes['outputs'], writes: ItemOutcomes['writes']): Iterable<StoredItem> {
  for (const [item, output] of outputs.entries()) {
    if (output === undefined) continue;
    const own = writes?.[item];
    yield own === undefined ? [item, output] : [item, output, own];
  }
}

function* inGroups<T>(values: Iterable<T>): Iterable<readonly T[]> {
  let group: T[] = [];
  let length = 0;
  for (const value of values) {
    group.push(value);
    length += estimateLength(value, GROUP_LENGTH);
    if (length < GROUP_LENGTH) continue;
    yield group;
    group = [];
    length = 0;
  }
  if (group.length > 0) yield group;
}
