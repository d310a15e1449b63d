import type { TSchema } from 'typebox';
import { isObject } from '../../common/json/json.js';
import { PipelineDefinition } from '../../definition/schema/schema.js';
import { ExecutionOptionsDocument, PlanDocument } from '../schemas/request.js';
import { COMPONENT_EXAMPLES } from './component-examples.js';

type Schema = Record<string, unknown>;

/** The complete schemas, by title, of values that the routes declare only as objects. */
const DOCUMENTED_SCHEMAS: Readonly<Record<string, TSchema>> = {
  Pipeline: PipelineDefinition,
  Plan: PlanDocument,
  ExecutionOptions: ExecutionOptionsDocument,
};

export function mapValues<T>(values: Readonly<Record<string, T>>, convert: (value: T) => unknown): Schema {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]));
}

/** The components of an OpenAPI document: schemas with a title, and named examples, to which operations refer. */
export class Components {
  readonly schemas: Record<string, unknown> = {};
  readonly examples: Record<string, unknown> = {};

  /** Adds a schema and those that it contains. Returns the schema, or a reference if it has a title. */
  addSchema(schema: TSchema): Schema {
    return this.#extract(toPlainJson(schema)) as Schema;
  }

  /** Adds an example and returns a reference to it. */
  addExample(name: string, value: unknown): Schema {
    this.examples[name] = { value };
    return { $ref: `#/components/examples/${name}` };
  }

  #extract(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.#extract(part));
    if (!isObject(schema)) return schema;
    const { title } = schema;
    if (typeof title !== 'string') return this.#extractParts(schema);
    if (this.schemas[title] === undefined) {
      // Adds the entry before its parts: a component precedes those it contains, and may contain itself.
      this.schemas[title] = {};
      this.schemas[title] = this.#extractParts(createComponent(title, schema));
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #extractParts(schema: Schema): Schema {
    // Examples are values: a `title` in one is no name of a schema.
    const parts = Object.entries(schema).map(([key, part]) => [
      key,
      key === 'examples' && Array.isArray(part) ? part : this.#extract(part),
    ]);
    return simplify(Object.fromEntries(parts));
  }
}

function createComponent(title: string, { title: _, ...schema }: Schema): Schema {
  const documented = DOCUMENTED_SCHEMAS[title];
  const example = COMPONENT_EXAMPLES[title];
  return {
    ...(documented === undefined ? schema : toPlainJson(documented)),
    ...(example !== undefined && { examples: [example] }),
  };
}

/** Removes the properties that TypeBox adds and JSON omits. */
function toPlainJson(schema: TSchema): Schema {
  return JSON.parse(JSON.stringify(schema)) as Schema;
}

/** Rewrites a schema in the keywords that Swagger UI and client generators handle best. */
function simplify(schema: Schema): Schema {
  return addTextType(simplifyMap(simplifyNullable(schema)));
}

/** Writes `string | null` as two types, not as two schemas. */
function simplifyNullable(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [value, nothing] = anyOf as [Schema, Schema];
  const isPlain =
    typeof value['type'] === 'string' && value['enum'] === undefined && value['const'] === undefined;
  if (!isPlain || nothing['type'] !== 'null') return schema;
  return { ...value, ...rest, type: [value['type'], 'null'] };
}

/** Writes a map without a pattern for its fields: client generators know no such thing. */
function simplifyMap(schema: Schema): Schema {
  const { patternProperties: patterns, ...rest } = schema;
  if (!isObject(patterns)) return schema;
  const [pattern = '', ...others] = Object.keys(patterns);
  if (others.length > 0) return schema;
  const names = pattern === '^.*$' ? {} : { propertyNames: { pattern } };
  return { ...rest, ...names, additionalProperties: patterns[pattern] };
}

/** Adds the type of text constants, which Swagger UI would show as `any`. */
function addTextType(schema: Schema): Schema {
  const constants = Array.isArray(schema['enum']) ? schema['enum'] : [schema['const']];
  if (schema['type'] !== undefined || !constants.every((value) => typeof value === 'string')) return schema;
  return { type: 'string', ...schema };
}
