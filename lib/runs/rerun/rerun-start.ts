import { WavetrainError } from '../../common/errors.js';
import { joinFirst } from '../../common/text.js';
import type { RunInputs } from '../../execution/prepare/run-inputs.js';
import { findListedTask } from '../../execution/run/reuse/reusable-items.js';
import { describeDependency } from './rerun-report.js';

/** The value of `from` that reuses the outputs of all tasks that succeeded. */
export type FromFailed = 'failed';

/** The end of a reason that says that the request names a part. The shell says it with the name of its flag. */
export type NamedInRequest = 'named in "from"';

const NAMED: NamedInRequest = 'named in "from"';
const FROM_FAILED: FromFailed = 'failed';

type Pipeline = RunInputs['pipeline'];

/** The first and the last item of a range. */
type ItemRange = readonly [number, number];

interface NamedStart {
  readonly kind: 'part';
  /** A task, or of a plan a sub-pipeline. */
  readonly part: string;
  /** Of the sub-pipeline. */
  readonly task: string | undefined;
  /** The items of the task that run again; undefined for all of it. */
  readonly items: readonly ItemRange[] | undefined;
}

/** Where a rerun starts (D60). */
export type RerunStart = { readonly kind: 'everything' | 'failed' } | NamedStart;

/** The items of a task that run again. */
export interface NamedItems {
  readonly task: string;
  readonly ranges: readonly ItemRange[];
  /**
   * The fan-outs over the output of the task, or of another follower, which have an item for each item of it. Their items
   * of the same numbers run, too; the others are reused where they read what they read before.
   */
  readonly followers: ReadonlySet<string>;
}

/** `TASK`, `SUB_PIPELINE/TASK`, and items behind a task. */
const PART = /^([^/[\]]+)(?:\/([^/[\]]+))?(?:\[([^[\]]*)\])?$/;
const RANGE = /^(\d{1,9})(?:-(\d{1,9}))?$/;
const MAX_RANGES = 1000;

/**
 * Reads the value of `from`.
 *
 * @throws WavetrainError `invalid_request` for items that are none
 */
export function readStart(
  from: string | undefined,
  kind: 'pipeline' | 'plan',
  ids: ReadonlySet<string>,
): RerunStart {
  if (from === undefined) return { kind: 'everything' };
  if (from === FROM_FAILED) return { kind: 'failed' };
  const [, part = from, task, items] = ids.has(from) ? [] : (PART.exec(from) ?? []);
  if (kind === 'pipeline' && task !== undefined)
    return { kind: 'part', part: from, task: undefined, items: undefined };
  if (items === undefined) return { kind: 'part', part, task, items };
  if (kind === 'plan' && task === undefined && ids.has(part))
    throw invalid(`sub-pipelines have no items: name a task, as in ${part}/TASK[${items}]`);
  return { kind: 'part', part, task, items: readRanges(items, from, task ?? part) };
}

function readRanges(items: string, from: string, task: string): readonly ItemRange[] {
  const ranges = items.split(',', MAX_RANGES + 1).map((text) => {
    const [, first, last = first] = RANGE.exec(text.trim()) ?? [];
    return [Number(first), Number(last)] as const;
  });
  if (ranges.length > MAX_RANGES) throw invalid(`"from" names more than ${MAX_RANGES} ranges of items`);
  if (ranges.every(([first, last]) => first <= last)) return ranges;
  throw invalid(`"${from}" names no items: write their numbers, from 0, as in ${task}[2] or ${task}[0,4-6]`);
}

/** The tasks of a pipeline, or the sub-pipelines of a plan. */
export interface RerunGraph {
  readonly kind: 'pipeline' | 'sub-pipeline' | 'plan';
  readonly name?: string;
  readonly ids: readonly string[];
  /** Each after its dependencies. */
  readonly order: readonly string[];
  readonly dependencies: (id: string) => readonly string[];
}

const MAX_LISTED_PARTS = 20;

/** Checks that a graph has a part. @throws WavetrainError `invalid_request` */
export function assertPart(part: string, { kind, name, ids }: RerunGraph): void {
  if (ids.includes(part)) return;
  const noun = kind === 'plan' ? 'sub-pipeline' : 'task';
  const owner = name === undefined ? `the ${kind}` : `the ${kind} "${name}"`;
  throw invalid(`${owner} has no ${noun} "${part}"; its ${noun}s are ${joinFirst(ids, MAX_LISTED_PARTS)}`);
}

/** A part and everything that depends on it, directly or indirectly, with the reason why each runs again. */
function withDependents(part: string, graph: RerunGraph): ReadonlyMap<string, string> {
  return new Map([[part, `is ${NAMED}`], ...dependentsOf(part, graph, `which is ${NAMED}`)]);
}

/** Everything that depends on a part, of which only some is named. @param named what of it is, in the plural or singular with its verb */
function dependentsOfSome(
  part: string,
  graph: RerunGraph,
  named: 'items are' | 'a task is',
): ReadonlyMap<string, string> {
  return dependentsOf(part, graph, `of which ${named} ${NAMED}`);
}

function dependentsOf(
  part: string,
  { order, dependencies }: RerunGraph,
  clause: string,
): Map<string, string> {
  const found = new Map<string, string>();
  const isFound = (id: string): boolean => id === part || found.has(id);
  for (const other of order)
    if (!isFound(other) && dependencies(other).some(isFound))
      found.set(other, `${describeDependency(part)}, ${clause}`);
  return found;
}

/** The parts of a graph that run again even if they succeeded and were not changed, with the reason. */
export function findForced(
  start: RerunStart,
  graph: RerunGraph,
  named?: NamedItems,
): ReadonlyMap<string, string> {
  if (start.kind === 'failed') return new Map();
  if (start.kind !== 'part') return new Map(graph.ids.map((id) => [id, EVERYTHING]));
  if (start.task !== undefined) return dependentsOfSome(start.part, graph, 'a task is');
  if (start.items === undefined) return withDependents(start.part, graph);
  const dependents = dependentsOfSome(start.part, graph, 'items are');
  return new Map([...dependents].filter(([id]) => named?.followers.has(id) !== true));
}

const EVERYTHING = 'runs, as everything does without "from" and changes';

export function graphOf({ tasks, waves }: Pipeline, subPipeline?: string): RerunGraph {
  return {
    ...(subPipeline === undefined ? { kind: 'pipeline' } : { kind: 'sub-pipeline', name: subPipeline }),
    ids: [...tasks.keys()],
    order: waves.flat(),
    dependencies: (id) => tasks.get(id)?.upstream ?? [],
  };
}

/** Where a rerun starts in a sub-pipeline, of which it names a task. */
export function startWithin(start: RerunStart, subPipeline: string): NamedStart | undefined {
  if (start.kind !== 'part' || start.part !== subPipeline || start.task === undefined) return undefined;
  return { kind: 'part', part: start.task, task: undefined, items: start.items };
}

/**
 * The tasks of a sub-pipeline that run again, with the reason.
 *
 * @param start undefined where it names no task of the sub-pipeline
 * @param reason why all of it runs again; undefined where it does not
 * @throws WavetrainError `invalid_request` for a task that the sub-pipeline does not have
 */
export function forceInPart(
  pipeline: Pipeline,
  id: string,
  start: NamedStart | undefined,
  reason: string | undefined,
): ReadonlyMap<string, string> {
  const graph = graphOf(pipeline, id);
  if (start !== undefined) {
    assertPart(start.part, graph);
    return findForced(start, graph, namedItems(start, pipeline));
  }
  const forced = reason === undefined ? [] : graph.ids;
  return new Map(forced.map((task) => [task, `is part of "${id}", which ${reason}`]));
}

/** The items of a task that a start names; undefined where it names none, or a task of a sub-pipeline. */
export function namedItems(start: RerunStart, { tasks, waves }: Pipeline): NamedItems | undefined {
  if (start.kind !== 'part' || start.task !== undefined || start.items === undefined) return undefined;
  const followers = new Set<string>();
  for (const id of waves.flat()) {
    const list = tasks.get(id)?.parallelOver;
    const source = list && findListedTask(list);
    if (source !== undefined && (source === start.part || followers.has(source))) followers.add(id);
  }
  return { task: start.part, ranges: start.items, followers };
}

function invalid(message: string): WavetrainError {
  return new WavetrainError('invalid_request', message);
}
