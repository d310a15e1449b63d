import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { ANY_SHAPE, ShapeBudget, unionOf, type ValueShape } from '../../definition/shapes/shape.js';
import { PLAIN_NAME } from '../../definition/template/expressions/expression.js';
import type { ReadDefinition } from '../check-context.js';
import type { PipelineDraft } from '../draft.js';
import { readStore } from '../rules/stores.js';
import { PipelineShapes } from './pipeline-shapes.js';
import { shapeSourceOfDraft } from './shape-source.js';

/** The shapes of the values that templates of a pipeline can read, by path; and of the items of each fan-out, by task id. */
export interface ReadableShapes {
  readonly values: ReadonlyMap<string, ValueShape>;
  readonly itemsOf: ReadonlyMap<string, ValueShape>;
}

interface AddedPipeline {
  readonly draft: PipelineDraft;
  readonly shapes: PipelineShapes;
  /** The shapes of the inputs, by key. */
  readonly inputShapes: ReadonlyMap<string, ValueShape>;
  /** Keys of the session that the pipeline names. */
  readonly keys: ReadonlySet<string>;
}

/** Session keys of which one is stored as a value of the next: of longer chains, the shapes are unknown. */
const MAX_CHAIN = 20;

/** Tasks that store one key, of which the shapes are looked at. */
const MAX_STORES = 20;

/**
 * The session of pipelines that share a blackboard. A key is taken to have one of the values that tasks store, and params and
 * inputs to be like their defaults: a run may bring others, so that proposals follow from these shapes, but no problems.
 */
export class AssumedShapes {
  readonly #budget: ShapeBudget;
  #samplesLeft = MAX_SAMPLES;
  readonly #stored = new Map<string, (() => ValueShape)[]>();
  #chain = 0;

  constructor(budget: ShapeBudget) {
    this.#budget = budget;
  }

  /** Adds a pipeline to those that share the blackboard. Returns what finds its shapes when all were added. */
  *add(read: ReadDefinition): Steps<() => Steps<ReadableShapes>> {
    const { definition, draft, catalog, nested } = read;
    const { params, inputs } = isObject(definition) ? definition : {};
    const source = shapeSourceOfDraft(draft, definition, catalog, nested);
    const written = Object.entries(isObject(inputs) ? (inputs as JsonObject) : {});
    const inputShapes = new Map<string, ValueShape>();
    for (const [key, value] of written) {
      yield;
      inputShapes.set(key, this.#sample(value));
    }
    const assumed = { ...source, params: yield* this.#withSamples(params) };
    const shapes = new PipelineShapes(assumed, this.#budget, (reference) => {
      if (reference.kind === 'input') return inputShapes.get(reference.key);
      return reference.kind === 'session' ? this.#ofKey(reference.key) : undefined;
    });
    const keys = new Set(draft.reads);
    for (const task of draft.tasks) {
      const store = readStore(task);
      if (store === undefined) continue;
      const { id, key, append } = store;
      const ofValue = () => (append ? { type: 'array', items: shapes.ofCall(id) } : shapes.ofCall(id));
      keys.add(key);
      const stored = this.#stored.get(key);
      if (stored === undefined) this.#stored.set(key, [ofValue]);
      else if (stored.length < MAX_STORES) stored.push(ofValue);
    }
    return () => this.#find({ draft, shapes, inputShapes, keys });
  }

  /** Adds to the declarations of params without a schema of their own the types within their defaults. */
  *#withSamples(params: unknown): Steps<Readonly<Record<string, unknown>>> {
    const sampled: [string, unknown][] = [];
    for (const [name, param] of Object.entries(isObject(params) ? params : {})) {
      yield;
      sampled.push([name, withSample(param, (value) => this.#sample(value))]);
    }
    return Object.fromEntries(sampled);
  }

  #sample(value: Json | undefined): ValueShape {
    return this.#samplesLeft-- > 0 ? sampleOf(value, new ShapeBudget(MAX_SAMPLED)) : ANY_SHAPE;
  }

  *#find({ draft, shapes, inputShapes, keys }: AddedPipeline): Steps<ReadableShapes> {
    const values = new Map<string, ValueShape>();
    const itemsOf = new Map<string, ValueShape>();
    for (const { id, fansOut } of draft.tasks) {
      yield;
      values.set(`${id}.output`, shapes.ofOutput(id));
      if (fansOut) itemsOf.set(id, shapes.ofItem({ id }));
    }
    const add = (path: string, name: string, find: () => ValueShape): void => {
      if (PLAIN_NAME.test(name)) values.set(`${path}.${name}`, find());
    };
    for (const name of draft.paramNames) add('params', name, () => shapes.ofParam(name));
    for (const [key, shape] of inputShapes) add('pipeline.inputs', key, () => shape);
    for (const key of keys) add('session', key, () => this.#ofKey(key));
    return { values, itemsOf };
  }

  #ofKey(key: string): ValueShape {
    const stored = this.#stored.get(key);
    if (stored === undefined || this.#chain === MAX_CHAIN) return ANY_SHAPE;
    this.#chain++;
    const shape = unionOf(stored.map((ofValue) => ofValue()));
    this.#chain--;
    return shape;
  }
}

const DESCRIBING = ['properties', 'items', 'prefixItems', 'enum', 'anyOf', 'oneOf', 'allOf'];

function withSample(param: unknown, sample: (value: Json | undefined) => ValueShape): unknown {
  if (!isObject(param) || DESCRIBING.some((keyword) => Object.hasOwn(param, keyword))) return param;
  const shape = sample(param['default'] as Json | undefined);
  if (!isObject(shape)) return param;
  const { properties, items } = shape;
  return {
    ...param,
    ...(properties !== undefined && { properties }),
    ...(items !== undefined && { items }),
  };
}

/** Defaults of a definition that are looked into, parts of each, and fields of each map in it. */
const MAX_SAMPLES = 100;
const MAX_SAMPLED = 1000;
const MAX_FIELDS = 500;

/** Elements of a list that are looked at: the others are probably like these. */
const MAX_ELEMENTS = 20;

const MAX_DEPTH = 10;

const TYPES: Readonly<Record<string, ValueShape>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
};

/** The shape of values that are like one: of other texts and numbers, but with the same fields. */
function sampleOf(value: Json | undefined, budget: ShapeBudget, depth = 0): ValueShape {
  if (value === undefined || value === null || depth > MAX_DEPTH || !budget.take()) return ANY_SHAPE;
  if (Array.isArray(value)) {
    const elements = value.slice(0, MAX_ELEMENTS).map((element) => sampleOf(element, budget, depth + 1));
    const items = unionOf(elements);
    return { type: 'array', ...(items !== false && { items }) };
  }
  if (!isObject(value)) return TYPES[typeof value] ?? ANY_SHAPE;
  const names = Object.keys(value);
  const sampled = names.slice(0, MAX_FIELDS);
  const properties = sampled.map((name) => [name, sampleOf(value[name], budget, depth + 1)]);
  const isWhole = sampled.length === names.length;
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(isWhole && { additionalProperties: false }),
  };
}
