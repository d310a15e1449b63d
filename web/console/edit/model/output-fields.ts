import type { Json } from '../../../../lib/common/json/json.js';
import { isJsonObject } from './outline.js';
import { TYPE_NAMES } from './vocabulary.js';

/** A field of an output. */
interface OutputField {
  readonly name: string;
  /** As in `list` or `text or null`; empty when anything may be there. */
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
  if (!isJsonObject(schema)) return [];
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.flatMap(alternativesOf) : [schema];
}

function memberOf(schema: Schema, name: string): readonly (Json | undefined)[] {
  if (/^(?:\d+|first|last)$/.test(name) && isJsonObject(schema['items'])) return [schema['items']];
  const properties = propertiesOf(schema);
  return Object.hasOwn(properties, name) ? [properties[name]] : [];
}

function propertiesOf({ properties }: Schema): Readonly<Record<string, Json>> {
  return isJsonObject(properties) ? properties : {};
}

function formatOutputType(schema: Json): string {
  if (!isJsonObject(schema)) return '';
  const { type, enum: choices, const: only } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(choices)) return choices.slice(0, 6).map(String).join(' | ');
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return types.flatMap((one) => (typeof one === 'string' ? (TYPE_NAMES[one] ?? one) : [])).join(' or ');
}
