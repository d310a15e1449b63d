import { isObject } from '../../common/json/json.js';
import { writeStart } from '../../common/json/json-writer.js';
import { ellipsize } from '../../common/text.js';
import { formatKey } from '../template/expressions/expression.js';
import { listAlternatives, type ValueShape } from './shape.js';

/** Objects and lists that are shown with their fields and elements. */
const MAX_DEPTH = 3;

const MAX_FIELDS = 30;
const MAX_CHOICES = 6;
const MAX_LENGTH = 1000;

/** Formats a shape on one line: `{status: integer, rows: list of {id: integer}}`; `any` when nothing is known. */
export function formatShape(shape: ValueShape, depth = MAX_DEPTH): string {
  return ellipsize(format(shape, depth), MAX_LENGTH);
}

function format(shape: unknown, depth: number): string {
  if (!isObject(shape)) return 'any';
  if (Object.hasOwn(shape, 'const')) return writeStart(shape['const'], 40);
  const { enum: choices, type } = shape;
  if (Array.isArray(choices)) return formatChoices(choices);
  const alternatives = listAlternatives(shape).flat();
  if (alternatives.length > 0) return formatAlternatives(alternatives, depth);
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return unique(types.map((one) => formatType(one, shape, depth))).join(' or ');
}

/** Of a list of what the first alternative is, the fields are not repeated. */
function formatAlternatives(alternatives: readonly ValueShape[], depth: number): string {
  const [first, ...others] = alternatives;
  const text = JSON.stringify(first);
  const isListOfFirst = (each: ValueShape): boolean =>
    isObject(each) && isObject(each['items']) && JSON.stringify(each['items']).includes(text);
  const shown = others.map((each) => (isListOfFirst(each) ? 'list of these' : format(each, depth)));
  const hasFields = format(first, depth).startsWith('{');
  return unique([format(first, depth), ...shown.filter((each) => !hasFields || each !== 'map')]).join(' or ');
}

function formatChoices(choices: readonly unknown[]): string {
  const shown = choices.slice(0, MAX_CHOICES).map((choice) => writeStart(choice, 40));
  return [...shown, ...(choices.length > MAX_CHOICES ? ['…'] : [])].join(' | ');
}

function formatType(type: unknown, shape: Readonly<Record<string, unknown>>, depth: number): string {
  switch (type) {
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    case 'array': {
      const { items } = shape;
      return depth > 0 && isObject(items) ? `list of ${format(items, depth - 1)}` : 'list';
    }
    case 'object':
      return formatObject(shape, depth);
    default:
      return 'any';
  }
}

function formatObject(shape: Readonly<Record<string, unknown>>, depth: number): string {
  const { properties, required, additionalProperties } = shape;
  if (!isObject(properties) || depth === 0) return 'map';
  const names = Object.keys(properties);
  const needed = new Set<unknown>(Array.isArray(required) ? required : names);
  const shown = names.slice(0, MAX_FIELDS).map((name) => {
    const mark = needed.has(name) ? '' : '?';
    return `${formatKey(name)}${mark}: ${format(properties[name], depth - 1)}`;
  });
  const hasMore = names.length > MAX_FIELDS || additionalProperties !== false;
  return `{${[...shown, ...(hasMore ? ['…'] : [])].join(', ')}}`;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
