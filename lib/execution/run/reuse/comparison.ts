import type { Json } from '../../../common/json/json.js';
import { groupBy } from '../../../definition/group-by.js';
import type { Segment } from '../../../definition/template/expressions/expression.js';
import { getMember } from '../../../definition/template/expressions/lookup.js';
import type { ExpressionOperand } from '../../../definition/template/expressions/operand.js';
import type { TemplateScope } from '../../../definition/template/scope.js';
import type { TaskOutcome } from '../../results.js';
import type { Write } from '../../session/session-overrides.js';

/** The parts of values that are compared for one task or one item: more would hold the event loop. */
const MAX_COMPARED_PARTS = 100_000;

/** The cost of finding the value of a template, in parts. */
const EXPRESSION_PARTS = 25;

/** Pairs of values that are remembered for other tasks. */
const MAX_PAIRS = 1000;

/** Values of two runs that are equal: many tasks may read the same large one. */
export class EqualPairs {
  readonly #byValue = new Map<object, object>();

  has(a: object, b: object): boolean {
    return this.#byValue.get(a) === b;
  }

  add(a: object, b: object): void {
    if (this.#byValue.size < MAX_PAIRS) this.#byValue.set(a, b);
  }
}

/**
 * Compares what one task, or one item, reads in two runs (D60). Values that would take too long to compare count as
 * different. Texts are compared as they are: reading them as JSON takes time and memory.
 */
export class Comparison {
  #left = MAX_COMPARED_PARTS;
  readonly #pairs: EqualPairs;

  constructor(pairs = new EqualPairs()) {
    this.#pairs = pairs;
  }

  /** Returns true for a template with the same value in both scopes. A text counts as a whole, even if part is read. */
  readsTheSame({ source }: ExpressionOperand, before: TemplateScope, now: TemplateScope): boolean {
    if (!this.#spend(EXPRESSION_PARTS)) return false;
    return this.isEqualAt(source.read(before, undefined), source.read(now, undefined), source.path);
  }

  /** Returns true when a path leads to equal values. */
  isEqualAt(a: Json | undefined, b: Json | undefined, path: readonly Segment[]): boolean {
    let [before, now] = [a, b];
    for (const segment of path) {
      if (before === now) return true;
      if (!isContainer(before) || !isContainer(now) || !this.#spend(1)) return false;
      before = getMember(before, segment);
      now = getMember(now, segment);
    }
    return this.isEqual(before, now);
  }

  isEqual(a: Json | undefined, b: Json | undefined): boolean {
    if (a === b) return true;
    if (!isContainer(a) || !isContainer(b)) return false;
    if (this.#pairs.has(a, b)) return true;
    this.#left = compare(a, b, this.#left);
    if (this.#left < 0) return false;
    this.#pairs.add(a, b);
    return true;
  }

  isEqualOutcome(a: TaskOutcome, b: TaskOutcome): boolean {
    if (a.writes.length !== b.writes.length || !this.isEqual(a.output, b.output)) return false;
    return a.writes.every((write, index) => this.#isEqualWrite(write, b.writes[index]));
  }

  #isEqualWrite(a: Write, b: Write | undefined): boolean {
    const isSameKey = a.key === b?.key && a.append === b.append;
    return isSameKey && this.#spend(1) && this.isEqual(a.value, b.value);
  }

  /** Returns the keys of the blackboard that two lists of writes do not write in the same way. */
  findChangedKeys(before: readonly Write[], now: readonly Write[]): string[] {
    const earlier = groupBy(before, ({ key }) => key);
    const later = groupBy(now, ({ key }) => key);
    const keys = new Set([...earlier.keys(), ...later.keys()]);
    return [...keys].filter((key) => {
      const [a = [], b = []] = [earlier.get(key), later.get(key)];
      return a.length !== b.length || !a.every((write, index) => this.#isEqualWrite(write, b[index]));
    });
  }

  #spend(parts: number): boolean {
    this.#left -= parts;
    return this.#left >= 0;
  }
}

/** Returns true when two values are the same JSON, whatever the order of keys. */
export function isEqualJson(a: Json | undefined, b: Json | undefined): boolean {
  return new Comparison().isEqual(a, b);
}

type Container = Exclude<Json, null | boolean | number | string>;

function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

const DIFFERENT = -1;

/** Returns how many parts are left to compare; negative when something differs, or when there are too many. */
function compare(a: Json | undefined, b: Json | undefined, most: number): number {
  if (a === b) return most - 1;
  if (!isContainer(a) || !isContainer(b)) return DIFFERENT;
  let left = most - 1;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return DIFFERENT;
    for (let index = 0; index < a.length && left >= 0; index++) left = compare(a[index], b[index], left);
    return left;
  }
  if (Array.isArray(b)) return DIFFERENT;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return DIFFERENT;
  for (const key of keys) {
    if (left < 0 || !Object.hasOwn(b, key)) return DIFFERENT;
    left = compare(a[key], b[key], left);
  }
  return left;
}
