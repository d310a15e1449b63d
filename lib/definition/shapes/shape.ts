import { isObject, type Json } from '../../common/json/json.js';
import type { Segment } from '../template/expressions/expression.js';
import { lookUp } from '../template/expressions/lookup.js';

/**
 * The values that a template may read, as a JSON Schema (2020-12): `true` for any value, `false` for none. Keywords that are not
 * understood only narrow a schema, so that whoever ignores them knows less, and nothing wrong.
 */
export type ValueShape = boolean | { readonly [keyword: string]: unknown };

/** Any value: nobody knows more. */
export const ANY_SHAPE: ValueShape = true;

/** Schemas may be nested, and name each other, without end: after so many steps, all else is unknown. */
const MAX_STEPS = 500_000;

/** Nesting of `anyOf` and the like that is looked into. */
const MAX_UNION_DEPTH = 24;

/** More alternatives, or listed values, are as good as any value. */
const MAX_ALTERNATIVES = 100;

/** Longer texts are not searched for JSON. */
const MAX_TEXT_LENGTH = 10_000;

/** Bounds the work of one check of a definition. */
export class ShapeBudget {
  #left: number;

  constructor(steps = MAX_STEPS) {
    this.#left = steps;
  }

  /** Returns false when nothing is left. */
  take(steps = 1): boolean {
    this.#left -= steps;
    return this.#left >= 0;
  }
}

/** The shape of a value that is written in the definition. */
export function shapeOfLiteral(value: Json): ValueShape {
  return { const: value };
}

/** The only value of a shape, which may be null; undefined for a shape of other values. */
export function literalOf(shape: ValueShape): Json | undefined {
  return typeof shape === 'object' && Object.hasOwn(shape, 'const') ? (shape['const'] as Json) : undefined;
}

/** The shape of values of one of several shapes. */
export function unionOf(shapes: readonly ValueShape[]): ValueShape {
  const possible = [...new Set(shapes)].filter((shape) => shape !== false);
  if (possible.includes(true) || possible.length > MAX_ALTERNATIVES) return ANY_SHAPE;
  const [only = false] = possible;
  return possible.length <= 1 ? only : { anyOf: possible };
}

/** The shape of values that all of several shapes have. */
function intersectionOf(shapes: readonly ValueShape[]): ValueShape {
  const narrowing = [...new Set(shapes)].filter((shape) => shape !== true);
  if (narrowing.includes(false)) return false;
  const [only = true] = narrowing;
  return narrowing.length <= 1 ? only : { allOf: narrowing };
}

/** Finds the shape of a part of a value of a shape without alternatives. */
type FindPart = (type: unknown, shape: Readonly<Record<string, unknown>>) => ValueShape;

/**
 * Returns the shape of the member at a segment of a path, as templates read it (D11, D12); `false` when no value of the shape has
 * such a member. A text may contain JSON with any members.
 */
export function memberOf(shape: ValueShape, segment: Segment, budget: ShapeBudget): ValueShape {
  return partOf(
    shape,
    (type, schema) => memberOfType(type, schema, segment),
    (value) => memberOfLiteral(value, segment),
    budget,
  );
}

/** Returns the shape of the elements of a list; `false` for what is no list, as a fan-out needs one (rule 7). */
export function elementOf(shape: ValueShape, budget: ShapeBudget): ValueShape {
  return partOf(
    shape,
    elementOfType,
    (value) => {
      if (!Array.isArray(value)) return false;
      return value.length === 0 || value.length > MAX_ALTERNATIVES || unionOf(value.map(shapeOfLiteral));
    },
    budget,
  );
}

function partOf(
  shape: ValueShape,
  ofType: FindPart,
  ofLiteral: (value: Json) => ValueShape,
  budget: ShapeBudget,
  depth = 0,
): ValueShape {
  if (typeof shape === 'boolean') return shape;
  if (!budget.take(costOf(shape)) || depth > MAX_UNION_DEPTH) return ANY_SHAPE;
  const parts = listAlternatives(shape).map((alternatives) =>
    unionOf(alternatives.map((one) => partOf(one, ofType, ofLiteral, budget, depth + 1))),
  );
  for (const each of listConjuncts(shape)) parts.push(partOf(each, ofType, ofLiteral, budget, depth + 1));
  const literal = literalOf(shape);
  if (literal !== undefined) parts.push(ofLiteral(literal));
  const { enum: values, type } = shape;
  if (Array.isArray(values) && values.length <= MAX_ALTERNATIVES)
    parts.push(unionOf((values as Json[]).map(ofLiteral)));
  if (type !== undefined) {
    const types: readonly unknown[] = Array.isArray(type) ? type : [type];
    parts.push(unionOf(types.map((one) => ofType(one, shape))));
  }
  return intersectionOf(parts);
}

/** Texts are searched for JSON: so many characters cost as much as one step. */
const CHARACTERS_PER_STEP = 64;

function costOf({ const: literal, enum: values }: Readonly<Record<string, unknown>>): number {
  const literals: readonly unknown[] = Array.isArray(values)
    ? [literal, ...(values as unknown[])]
    : [literal];
  return literals.reduce<number>(
    (cost, each) => cost + (typeof each === 'string' ? each.length / CHARACTERS_PER_STEP : 1),
    0,
  );
}

/** The lists of alternatives of a shape, each of which holds. */
export function listAlternatives(shape: Readonly<Record<string, unknown>>): ValueShape[][] {
  return [shape['anyOf'], shape['oneOf']].flatMap((list) =>
    Array.isArray(list) && list.length <= MAX_ALTERNATIVES ? [list.map(toShape)] : [],
  );
}

/** The shapes that all hold beside the keywords of a shape. */
export function listConjuncts(shape: Readonly<Record<string, unknown>>): ValueShape[] {
  const { allOf } = shape;
  return Array.isArray(allOf) && allOf.length <= MAX_ALTERNATIVES ? allOf.map(toShape) : [];
}

/** A schema of somebody else, which may be none. */
function toShape(schema: unknown): ValueShape {
  return typeof schema === 'boolean' || isObject(schema) ? schema : ANY_SHAPE;
}

/** A list without elements is a list, nevertheless. */
function elementOfType(type: unknown, shape: Readonly<Record<string, unknown>>): ValueShape {
  if (type === 'array') return anyElementOf(shape) || ANY_SHAPE;
  return typeof type !== 'string' || !NO_LISTS.has(type);
}

const NO_LISTS: ReadonlySet<string> = new Set(['object', 'string', 'number', 'integer', 'boolean', 'null']);

function memberOfType(type: unknown, shape: Readonly<Record<string, unknown>>, segment: Segment): ValueShape {
  switch (type) {
    case 'object':
      return memberOfObject(shape, segment);
    case 'array':
      return memberOfList(shape, segment);
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return false;
    default:
      return ANY_SHAPE;
  }
}

function memberOfObject(shape: Readonly<Record<string, unknown>>, segment: Segment): ValueShape {
  if (segment.kind === 'index') return false;
  const { properties, patternProperties, additionalProperties } = shape;
  if (isObject(properties) && Object.hasOwn(properties, segment.name))
    return toShape(properties[segment.name]);
  return patternProperties === undefined ? toShape(additionalProperties) : ANY_SHAPE;
}

function memberOfList(shape: Readonly<Record<string, unknown>>, { name, index }: Segment): ValueShape {
  if (index === undefined && name === 'length') return { type: 'integer' };
  const position = index ?? (name === 'first' ? 0 : name === 'last' ? -1 : undefined);
  if (position === undefined) return false;
  const { prefixItems, maxItems } = shape;
  if (typeof maxItems === 'number' && (position >= maxItems || -position > maxItems)) return false;
  if (Array.isArray(prefixItems) && position >= 0 && position < prefixItems.length)
    return toShape(prefixItems[position]);
  return position < 0 ? anyElementOf(shape) : toShape(shape['items']);
}

function anyElementOf({ prefixItems, items }: Readonly<Record<string, unknown>>): ValueShape {
  const others = toShape(items);
  return Array.isArray(prefixItems) ? unionOf([...prefixItems.map(toShape), others]) : others;
}

function memberOfLiteral(value: Json, segment: Segment): ValueShape {
  if (typeof value === 'string' && value.length > MAX_TEXT_LENGTH) return ANY_SHAPE;
  const member = lookUp(value, [segment]);
  return member === undefined ? false : shapeOfLiteral(member);
}

/** Returns the types of JSON Schema that values of a shape may have; undefined when they may have any. */
export function typesOf(
  shape: ValueShape,
  budget = new ShapeBudget(),
  depth = 0,
): ReadonlySet<string> | undefined {
  if (shape === false) return new Set();
  if (shape === true || !budget.take() || depth > MAX_UNION_DEPTH) return undefined;
  let types: ReadonlySet<string> | undefined;
  const narrow = (to: ReadonlySet<string> | undefined): void => {
    const before = types;
    if (to !== undefined)
      types = before === undefined ? to : new Set([...to].filter((one) => before.has(one)));
  };
  for (const alternatives of listAlternatives(shape))
    narrow(joinTypes(alternatives.map((one) => typesOf(one, budget, depth + 1))));
  for (const each of listConjuncts(shape)) narrow(typesOf(each, budget, depth + 1));
  const literal = literalOf(shape);
  if (literal !== undefined) narrow(new Set([typeOfLiteral(literal)]));
  const { enum: values, type } = shape;
  if (Array.isArray(values) && values.length <= MAX_ALTERNATIVES) narrow(new Set(values.map(typeOfLiteral)));
  const named: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (named.every((one) => one === 'array' || NO_LISTS.has(String(one))))
    narrow(new Set(named.map((one) => (one === 'integer' ? 'number' : String(one)))));
  return types;
}

/** Returns true for a shape whose values have no other types, and for one without values. */
export function hasOnlyTypes(shape: ValueShape, allowed: readonly string[]): boolean {
  const types = typesOf(shape);
  return types !== undefined && [...types].every((type) => allowed.includes(type));
}

function joinTypes(sets: readonly (ReadonlySet<string> | undefined)[]): ReadonlySet<string> | undefined {
  const joined = new Set<string>();
  for (const types of sets) {
    if (types === undefined) return undefined;
    for (const type of types) joined.add(type);
  }
  return joined;
}

function typeOfLiteral(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}
