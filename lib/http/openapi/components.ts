import type { TSchema } from 'typebox';
import { PipelineDefinition } from '../../definition/schema/schema.js';
import { isObject } from '../../common/json.js';
import { EXAMPLE_OF_COMPONENT } from './component-examples.js';
import { PlanDocument } from '../schemas/plan-request.js';
import { ExecutionOptionsDocument } from '../schemas/request.js';

type Schema = Record<string, unknown>;

/** What stands in the documents for values that code judges, by their titles. */
const IN_PLACE_OF: Readonly<Record<string, TSchema>> = {
  Pipeline: PipelineDefinition,
  Plan: PlanDocument,
  ExecutionOptions: ExecutionOptionsDocument,
};

/** Schemas with a title stand in one place, and are referred to from everywhere else; so do named examples. */
export class Components {
  readonly schemas: Record<string, unknown> = {};
  readonly examples: Record<string, unknown> = {};

  of(schema: TSchema): Schema {
    return this.#refer(copyOf(schema)) as Schema;
  }

  example(name: string, value: unknown): Schema {
    this.examples[name] = { value };
    return { $ref: `#/components/examples/${name}` };
  }

  #refer(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.#refer(part));
    if (!isObject(schema)) return schema;
    const { title } = schema;
    if (typeof title !== 'string') return this.#within(schema);
    if (this.schemas[title] === undefined) {
      this.schemas[title] = {};
      this.schemas[title] = this.#within(definitionOf(title, schema));
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #within(schema: Schema): Schema {
    const parts = Object.entries(schema).map(([key, part]) => [key, this.#refer(part)]);
    return readable(Object.fromEntries(parts));
  }
}

function definitionOf(title: string, { title: _, ...schema }: Schema): Schema {
  const other = IN_PLACE_OF[title];
  const example = EXAMPLE_OF_COMPONENT[title];
  return {
    ...(other === undefined ? schema : copyOf(other)),
    ...(example !== undefined && { examples: [example] }),
  };
}

function copyOf(schema: TSchema): Schema {
  return JSON.parse(JSON.stringify(schema)) as Schema;
}

/** The same in the words that readers and generators of clients know best. */
function readable(schema: Schema): Schema {
  return withType(withPlainMap(withPlainNull(schema)));
}

/** `string | null` rather than one of two schemas. */
function withPlainNull(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [some, none] = anyOf as [Schema, Schema];
  const isPlain =
    typeof some['type'] === 'string' && some['enum'] === undefined && some['const'] === undefined;
  if (!isPlain || none['type'] !== 'null') return schema;
  return { ...some, ...rest, type: [some['type'], 'null'] };
}

/** A map from any name, rather than from names that match a pattern. */
function withPlainMap(schema: Schema): Schema {
  const { patternProperties: patterns, ...rest } = schema;
  if (!isObject(patterns) || Object.keys(patterns).join() !== '^.*$') return schema;
  return { ...rest, additionalProperties: patterns['^.*$'] };
}

/** A word of a list is text: readers would be shown `any`. */
function withType(schema: Schema): Schema {
  const words = Array.isArray(schema['enum']) ? schema['enum'] : [schema['const']];
  if (schema['type'] !== undefined || !words.every((word) => typeof word === 'string')) return schema;
  return { type: 'string', ...schema };
}
