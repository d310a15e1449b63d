import type { Json } from '../../../../lib/common/json/json.js';
import { HANDLER_LISTS } from '../../../../lib/definition/schema/fields.js';
import type { ToolMetadata } from '../../../../lib/tools/catalog.js';
import type { ReadablePaths } from './readable-paths.js';

/** As much of JSON Schema as the schemas of definitions use. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
}

/** The language as the server knows it, and the text as the server has checked it last. */
export interface Vocabulary extends Language {
  /** The paths that the templates of the text can read. */
  readonly paths: readonly ReadablePaths[];
}

/** The language as the server knows it: its schemas and its tools. */
export interface Language {
  readonly pipeline: JsonSchema;
  readonly plan: JsonSchema;
  readonly tools: ReadonlyMap<string, ToolMetadata>;
}

/** A path from the root of a text, divided into the definition and what is within. */
export interface InnerPath {
  readonly schema: JsonSchema | undefined;
  /** The schemas that references within the schema lead to. */
  readonly definitions: JsonSchema['definitions'];
  readonly kind: 'pipeline' | 'plan';
  /** The part of the path from the pipeline or the plan that contains its end. */
  readonly rest: readonly (string | number)[];
  /** Index of the sub-pipeline whose pipeline contains the end of the path. */
  readonly subPipeline: number | undefined;
  /** True when the path is beside the root key. */
  readonly isRoot: boolean;
}

/** Divides a path: a plan may contain pipelines, and the root key may be missing (D3, D44). */
export function divide(
  path: readonly (string | number)[],
  detected: 'pipeline' | 'plan',
  vocabulary: Vocabulary,
): InnerPath {
  const [first] = path;
  const hasKey = first === 'pipeline' || first === 'plan';
  const kind = hasKey ? first : detected;
  const rest = hasKey ? path.slice(1) : path;
  const [list, index, field, ...inner] = rest;
  if (kind === 'plan' && list === 'sub_pipelines' && field === 'pipeline' && typeof index === 'number') {
    const { definitions } = vocabulary.pipeline;
    const schema = definitions?.['pipeline'];
    return { kind: 'pipeline', rest: inner, subPipeline: index, isRoot: false, schema, definitions };
  }
  const { definitions } = vocabulary[kind];
  const schema = definitions?.[kind];
  return { kind, rest, subPipeline: undefined, isRoot: path.length === 0, schema, definitions };
}

/** Returns the schema of the value at a path within a definition; undefined where anything may be. */
export function schemaAt(
  { schema: root, definitions }: Pick<InnerPath, 'schema' | 'definitions'>,
  path: readonly (string | number)[],
): JsonSchema | undefined {
  let schema = root;
  for (const key of path) {
    if (schema === undefined) return undefined;
    const { properties, patternProperties, items } = schema;
    if (typeof key === 'number') schema = items;
    else {
      schema =
        properties !== undefined && Object.hasOwn(properties, key)
          ? properties[key]
          : patternProperties?.['^.*$'];
    }
    const reference = schema?.$ref?.replace('#/definitions/', '');
    if (reference !== undefined) schema = definitions?.[reference];
  }
  return schema;
}

/** True for the path of a list of tasks: those of a pipeline, or handlers (D80). */
export function isTaskList({ kind, rest: [list] }: Pick<InnerPath, 'kind' | 'rest'>): boolean {
  return (kind === 'pipeline' && list === 'tasks') || isHandlerList(list);
}

/** True for the name of a list of handlers. */
export function isHandlerList(name: unknown): boolean {
  return HANDLER_LISTS.some((list) => list === name);
}

/** Formats what a field takes: `integer`, `one of fail, collect`. */
export function formatType({ type, enum: choices }: JsonSchema): string {
  const listed = choices?.filter((choice) => choice !== null).map(String) ?? [];
  if (listed.length > MOST_CHOICES) return `one of ${listed.length}`;
  if (listed.length > 0) return listed.join(' | ');
  const types = (typeof type === 'string' ? [type] : (type ?? [])).filter((name) => name !== 'null');
  return types.map((name) => TYPE_NAMES[name] ?? name).join(' | ');
}

/** More are offered where one is written. */
const MOST_CHOICES = 6;

/** The names that the editor shows for types of JSON Schema; others keep theirs. */
const TYPE_NAMES: Readonly<Record<string, string>> = { array: 'list', object: 'map', string: 'text' };

/** Names of params, inputs and keys that templates can read without brackets. */
export const UNQUOTED_NAME = /^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*$/u;
