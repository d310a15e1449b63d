import type { Json } from '../../../common/json/json.js';
import type { Segment } from '../../../definition/template/expressions/expression.js';
import type { Template } from '../../../definition/template/template.js';
import type { ItemOutcomes } from '../../prepare/rerun-source.js';
import type { TaskOutcome } from '../../results.js';
import { NO_WRITES } from '../../session/session-overrides.js';
import { Comparison } from './comparison.js';

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
  /** The paths at which templates read the item. */
  readonly #paths: readonly (readonly Segment[])[];
  readonly #itemBytes: number;
  readonly #isDecided: boolean;
  /** Memory of the list of the earlier run, if it was rendered again. */
  readonly listBytes: number;

  /**
   * @param before the list of the earlier run, which took `listBytes` if it was rendered again
   * @param isDecided conditions may have skipped items, whose output is null: those are decided anew
   */
  constructor(
    inputs: Template,
    earlier: ItemOutcomes,
    before: readonly Json[],
    now: readonly Json[],
    listBytes: number,
    isDecided: boolean,
  ) {
    this.#isDecided = isDecided;
    this.listBytes = listBytes;
    this.#earlier = earlier;
    this.#before = before;
    this.#now = now;
    this.#paths = inputs.operands.flatMap(({ expression }) =>
      expression.root === 'item' ? [expression.path] : [],
    );
    const { outputs, sizeBytes } = earlier;
    this.#itemBytes = Math.ceil(sizeBytes / Math.max(1, countDefined(outputs)));
  }

  /** Returns the earlier outcome of an item. */
  get(item: number): EarlierItem | undefined {
    // Items may have been added or removed before this one: its place is then the same from the end.
    return this.#getAt(item, item) ?? this.#getAt(item, item + this.#before.length - this.#now.length);
  }

  #getAt(item: number, place: number): EarlierItem | undefined {
    const { outputs, writes } = this.#earlier;
    const output = outputs[place];
    if (output === undefined || (output === null && this.#isDecided)) return undefined;
    if (!this.#isAsItWas(this.#before[place], this.#now[item])) return undefined;
    return { output, writes: writes?.[place] ?? NO_WRITES, sizeBytes: this.#itemBytes, place };
  }

  #isAsItWas(before: Json | undefined, now: Json | undefined): boolean {
    if (before === now) return true;
    const comparison = new Comparison();
    return this.#paths.every((path) => comparison.isEqualAt(before, now, path));
  }
}

/** Counts the items that have succeeded. */
export function countDefined(outputs: readonly (Json | undefined)[]): number {
  return outputs.reduce<number>((count, output) => (output === undefined ? count : count + 1), 0);
}
