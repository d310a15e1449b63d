import type { Json } from '../../../../lib/common/json/json.js';

/** A field of an output. */
interface OutputField {
  readonly name: string;
  /** As in `list of maps`; empty when anything may be there. */
  readonly type: string;
}

/** A JSON Schema of a tool, which may have anything in it. */
type Schema = Readonly<Record<string, Json | undefined>>;

/** Lists the fields of the value at a path, such as `.rows[0]`, as far as the schema of an output names them. */
export function fieldsAt(schema: Schema, path: string): readonly OutputField[] {
  let found = alternativesOf(schema);
  for (const [, name, index] of path.matchAll(/\.([\w-]+)|\[(-?\d+)\]/g)) {
    found = found
      .flatMap((each) => (index === undefined && name !== undefined ? memberOf(each, name) : [each['items']]))
      .flatMap(alternativesOf);
  }
  const fields = found.flatMap((each) => Object.entries(propertiesOf(each)));
  return [...new Map(fields)].map(([name, field]) => ({ name, type: formatOutputType(field) }));
}

function alternativesOf(schema: Json | undefined | Schema): readonly Schema[] {
  if (!isSchema(schema)) return [];
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.flatMap(alternativesOf) : [schema];
}

function isSchema(schema: unknown): schema is Schema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema);
}

function memberOf(schema: Schema, name: string): readonly (Json | undefined)[] {
  if (/^(?:\d+|first|last)$/.test(name) && isSchema(schema['items'])) return [schema['items']];
  const properties = propertiesOf(schema);
  return Object.hasOwn(properties, name) ? [properties[name]] : [];
}

function propertiesOf({ properties }: Schema): Readonly<Record<string, Json>> {
  return isSchema(properties) ? properties : {};
}

const TYPES: Readonly<Record<string, string>> = { array: 'list', object: 'map', string: 'text' };

function formatOutputType(schema: Json): string {
  if (!isSchema(schema)) return '';
  const { type, enum: choices, const: only } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(choices)) return choices.slice(0, 6).map(String).join(' | ');
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return types.flatMap((one) => (typeof one === 'string' ? (TYPES[one] ?? one) : [])).join(' or ');
}
