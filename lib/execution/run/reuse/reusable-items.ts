import type { Json } from '../../../common/json/json.js';
import type { Segment } from '../../../definition/template/expressions/expression.js';
import type { Template } from '../../../definition/template/template.js';
import type { ItemOutcomes } from '../../prepare/rerun-source.js';
import type { TaskOutcome } from '../../results.js';
import { NO_WRITES } from '../../session/session-overrides.js';
import { Comparison } from './comparison.js';

type Path = readonly Segment[];

/** The earlier outcome of an item. */
interface EarlierItem extends TaskOutcome {
  /** The place of the item in the earlier run. */
  readonly place: number;
}

/** The items of a fan-out that need not run again, because what is read of them is as it was (D60). */
export class ReusableItems {
  readonly #earlier: ItemOutcomes;
  readonly #before: readonly Json[];
  readonly #now: readonly Json[];
  /** The paths at which inputs read the item. */
  readonly #paths: readonly Path[];
  /** The paths at which inputs and conditions read it; undefined when conditions read something else that has changed. */
  readonly #decidedPaths: readonly Path[] | undefined;
  readonly #itemBytes: number;
  /** Memory of the list of the earlier run, if it was rendered again. */
  readonly listBytes: number;

  /**
   * @param before the list of the earlier run, which took `listBytes` if it was rendered again
   * @param conditions of each item; undefined when they read, besides the item, what has changed
   */
  constructor(
    inputs: Template,
    conditions: readonly Template[] | undefined,
    earlier: ItemOutcomes,
    before: readonly Json[],
    now: readonly Json[],
    listBytes: number,
  ) {
    this.listBytes = listBytes;
    this.#earlier = earlier;
    this.#before = before;
    this.#now = now;
    this.#paths = listItemPaths(inputs);
    this.#decidedPaths = conditions && [...this.#paths, ...conditions.flatMap(listItemPaths)];
    const { outputs, sizeBytes } = earlier;
    this.#itemBytes = Math.ceil(sizeBytes / Math.max(1, countDefined(outputs)));
  }

  /** Returns the earlier outcome of an item whose conditions hold. */
  get(item: number): EarlierItem | undefined {
    // Items may have been added or removed before this one: its place is then the same from the end.
    return this.#getAt(item, item) ?? this.#getAt(item, item + this.#before.length - this.#now.length);
  }

  #getAt(item: number, place: number): EarlierItem | undefined {
    const { outputs, writes } = this.#earlier;
    const output = outputs[place];
    if (output === undefined) return undefined;
    // An item whose output is null may have been skipped, unless its conditions held as they do now.
    const paths = output === null ? this.#decidedPaths : this.#paths;
    if (paths === undefined || !isEqualAt(paths, this.#before[place], this.#now[item])) return undefined;
    return { output, writes: writes?.[place] ?? NO_WRITES, sizeBytes: this.#itemBytes, place };
  }
}

/**
 * Returns the task whose output is the list of a fan-out: of `{{fetch.output}}` it is `fetch`, so that item 3 of the fan-out is
 * about item 3 of `fetch`. Undefined for any other list.
 */
export function findListedTask({ operands }: Template): string | undefined {
  const [only, ...others] = operands;
  if (only === undefined || others.length > 0) return undefined;
  const { root, path, fallback } = only.expression;
  const isWhole = path.length === 0 || (path.length === 1 && path[0]?.name === 'output');
  return isWhole && fallback === undefined ? root : undefined;
}

function listItemPaths({ operands }: Template): Path[] {
  return operands.flatMap(({ expression }) => (expression.root === 'item' ? [expression.path] : []));
}

function isEqualAt(paths: readonly Path[], before: Json | undefined, now: Json | undefined): boolean {
  if (before === now) return true;
  const comparison = new Comparison();
  return paths.every((path) => comparison.isEqualAt(before, now, path));
}

/** Counts the items that have succeeded. */
export function countDefined(outputs: readonly (Json | undefined)[]): number {
  return outputs.reduce<number>((count, output) => (output === undefined ? count : count + 1), 0);
}
