import { isObject, type Json } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { ellipsize } from '../../common/text.js';
import type { ReadablePathsSchema } from '../../common/wire/report.js';
import type { Shape } from '../../common/wire/shape.js';
import { formatShape } from '../../definition/shapes/format-shape.js';
import { knownKeys } from '../../definition/shapes/missing-member.js';
import {
  ANY_SHAPE,
  elementOf,
  listAlternatives,
  literalOf,
  memberOf,
  ShapeBudget,
  typesOf,
  type ValueShape,
} from '../../definition/shapes/shape.js';
import { PLAIN_NAME } from '../../definition/template/expressions/expression.js';
import type { CheckContext, ReadDefinition } from '../check-context.js';
import { AssumedShapes, type ReadableShapes } from './assumed-shapes.js';

/** The paths that templates of a pipeline can read, and the types of their values. */
export interface ReadablePaths extends Shape<typeof ReadablePathsSchema> {}

type ReadableValue = ReadablePaths['paths'][string];

/** A map of the result, by path, to which the values within a value are added. */
type PathMap = Record<string, ReadableValue>;

interface Waiting {
  readonly paths: PathMap;
  readonly path: string;
  readonly shape: ValueShape;
}

/** Paths of one definition that are listed, with those of the pipelines within a plan: the deepest are left out. */
const MAX_PATHS = 2000;

/** Values that wait to be listed, before no others are added. */
const MAX_WAITING = 2 * MAX_PATHS;

/** Fields of one map that are listed. */
const MAX_FIELDS = 500;

/** Longer paths are left out. */
const MAX_PATH_LENGTH = 200;

const MAX_DESCRIPTION_LENGTH = 200;

/** Lists the paths that templates can read, while a definition is checked: also those of one that has errors. */
export class PathCollector {
  readonly #read: { readonly part: string | undefined; readonly read: ReadDefinition }[] = [];

  /** Remembers a pipeline, or the handlers of a plan. The check calls it as soon as it has read one. */
  readonly onRead: NonNullable<CheckContext['onRead']> = (read, part) => {
    this.#read.push({ part, read });
  };

  /** Returns an empty list for a definition that cannot be read. */
  *list(): Steps<ReadablePaths[]> {
    const budget = new ShapeBudget();
    const shapes = new AssumedShapes(budget);
    const found: ReadablePaths[] = [];
    const waiting: Waiting[] = [];
    const added: { readonly part: string | undefined; readonly find: () => Steps<ReadableShapes> }[] = [];
    for (const { part, read } of this.#read) added.push({ part, find: yield* shapes.add(read) });
    for (const { part, find } of added) {
      const paths: PathMap = {};
      const { values, itemsOf } = yield* find();
      for (const [path, shape] of values) waiting.push({ paths, path, shape });
      const items = Array.from(itemsOf, ([id, shape]): [string, PathMap] => {
        const ofTask: PathMap = {};
        waiting.push({ paths: ofTask, path: 'item', shape });
        return [id, ofTask];
      });
      found.push({ sub_pipeline: part ?? null, paths, items: Object.fromEntries(items) });
    }
    yield* spread(waiting, budget);
    return found;
  }
}

/** Adds values and those within them, level by level, so that a deep value takes no place from others. */
function* spread(waiting: Waiting[], budget: ShapeBudget): Steps<void> {
  let count = 0;
  for (const { paths, path, shape } of waiting) {
    if (count === MAX_PATHS) return;
    if (path.length > MAX_PATH_LENGTH || shape === false) continue;
    paths[path] = describe(shape, budget);
    count++;
    yield;
    if (waiting.length > MAX_WAITING) continue;
    const element = elementOf(shape, budget);
    if (typeof element === 'object') waiting.push({ paths, path: `${path}[]`, shape: element });
    for (const name of knownKeys(shape, budget).slice(0, MAX_FIELDS)) {
      if (!PLAIN_NAME.test(name)) continue;
      const member = memberOf(shape, { kind: 'field', name, index: undefined }, budget);
      waiting.push({ paths, path: `${path}.${name}`, shape: member });
    }
  }
}

function describe(shape: ValueShape, budget: ShapeBudget): ReadableValue {
  const description = findDescription(shape);
  const type = formatType(shape, budget);
  return description === undefined
    ? { type }
    : { type, description: ellipsize(description, MAX_DESCRIPTION_LENGTH) };
}

/** The fields of a map have paths of their own, so its type does not repeat them. */
function formatType(shape: ValueShape, budget: ShapeBudget): string {
  const literal: Json | undefined = literalOf(shape);
  if (Array.isArray(literal)) return 'list';
  if (isObject(literal)) return 'map';
  const types = typesOf(shape, budget);
  const isList = types?.has('array') === true && !types.has('object');
  return formatShape(shape, isList ? 1 : 0);
}

/** Finds the description of a value; that of one of its alternatives where the value may be null, too. */
function findDescription(shape: ValueShape = ANY_SHAPE): string | undefined {
  if (typeof shape === 'boolean') return undefined;
  const described = [shape, ...listAlternatives(shape).flat()].find(
    (each) => typeof each === 'object' && typeof each['description'] === 'string',
  );
  return typeof described === 'object' ? (described['description'] as string) : undefined;
}
