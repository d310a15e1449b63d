import { isObject } from '../../common/json/json.js';
import { writeStart } from '../../common/json/json-writer.js';
import { ellipsize } from '../../common/text.js';
import { formatKey, formatSegment, type Segment } from '../template/expressions/expression.js';
import {
  listAlternatives,
  listConjuncts,
  literalOf,
  memberOf,
  type ShapeBudget,
  typesOf,
  type ValueShape,
} from './shape.js';

/** A path that no value of its shape has. */
export interface MissingMember {
  /** The position in the path of the segment that leads nowhere. */
  readonly at: number;
  /** The shape of the value that has no such member. */
  readonly shape: ValueShape;
}

/** Finds where a path certainly leads nowhere; undefined when there may be a value at its end. */
export function findMissing(
  from: ValueShape,
  path: readonly Segment[],
  budget: ShapeBudget,
): MissingMember | undefined {
  let shape = from;
  for (const [at, segment] of path.entries()) {
    const member = memberOf(shape, segment, budget);
    if (member === false) return { at, shape };
    shape = member;
  }
  return undefined;
}

const MAX_LISTED_KEYS = 8;

/** Why a value has no member at a segment. */
export interface MissingReason {
  /** As the sentences of a run say it (D13). */
  readonly reason: string;
  /** True for a list, of which the path must select an item first. */
  readonly needsItem: boolean;
}

/** Says why a value has no member at a segment. @param label names the value */
export function explainMissingMember(
  shape: ValueShape,
  segment: Segment,
  label: string,
  budget: ShapeBudget,
): MissingReason {
  const types = typesOf(shape, budget) ?? new Set<string>();
  const keys = knownKeys(shape, budget);
  if (types.has('object')) {
    const has = keys.length === 0 ? 'no keys' : listKeys(keys);
    const reason =
      segment.kind === 'index'
        ? `${label} is an object, which has no index ${segment.index}: it has ${has}`
        : `${label} has no ${JSON.stringify(ellipsize(segment.name, 80))}: it has ${has}`;
    return { reason, needsItem: false };
  }
  if (types.has('array')) {
    const needsItem = segment.index === undefined;
    const reason = needsItem
      ? `${label} is a list: select one of its items first, as in ${label}[0]${formatSegment(segment)}`
      : `${label} is a list without an index ${segment.index}`;
    return { reason, needsItem };
  }
  const literal = literalOf(shape);
  const value = literal === undefined ? nameTypes(types) : writeStart(literal, 80);
  return { reason: `${label} is ${value}, which has no fields`, needsItem: false };
}

/** Names the types of values: `a number or null`. */
export function nameTypes(types: ReadonlySet<string>): string {
  const names = [...types].map((type) => TYPE_NAMES[type] ?? type);
  return names.length === 0 ? 'null' : names.join(' or ');
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  object: 'an object',
  string: 'a text',
};

function listKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, MAX_LISTED_KEYS).map(formatKey).join(', ');
  return keys.length > MAX_LISTED_KEYS ? `${shown}, …` : shown;
}

/** Lists the keys that values of a shape may have, as far as they are named, and the budget allows. */
export function knownKeys(shape: ValueShape, budget: ShapeBudget): readonly string[] {
  const keys = new Set<string>();
  const waiting = [shape];
  for (const each of waiting) {
    if (typeof each === 'boolean') continue;
    if (!budget.take()) break;
    const own = [each['properties'], each['const']].flatMap((object) =>
      isObject(object) ? Object.keys(object) : [],
    );
    const others = [...listAlternatives(each).flat(), ...listConjuncts(each)];
    if (!budget.take(own.length + others.length)) break;
    for (const key of own) keys.add(key);
    waiting.push(...others);
  }
  return [...keys];
}

/** Finds the path that was meant, where a member of the value has fields that nobody knows: `body` of an answer. */
export function findHolder(
  { shape }: MissingMember,
  segment: Segment,
  budget: ShapeBudget,
): string | undefined {
  const holders = knownKeys(shape, budget).filter((key) => {
    const member = memberOf(shape, { kind: 'field', name: key, index: undefined }, budget);
    const types = typesOf(member, budget);
    return (types === undefined || types.has('object')) && memberOf(member, segment, budget) === true;
  });
  return holders.length === 1 ? holders[0] : undefined;
}
