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

/** Parts of a shape that are shown, alternatives within each other, and types of one value: further ones are `any`. */
const MAX_PARTS = 200;
const MAX_NESTED = 20;
const MAX_TYPES = 8;

/** Length of the text of a shape, within which two of them are found equal. */
const MAX_COMPARED = 2000;

/** Formats a shape on one line: `{status: integer, rows: list of {id: integer}}`; `any` when nothing is known. */
export function formatShape(shape: ValueShape, depth = MAX_DEPTH): string {
  return ellipsize(new Formatter().format(shape, depth), MAX_LENGTH);
}

/** Formats one shape. Shapes may share parts, so that a short definition has very many. */
class Formatter {
  #partsLeft = MAX_PARTS;
  #nested = 0;

  format(shape: unknown, depth: number): string {
    return unique(this.#formatEach(shape, depth)).join(' or ');
  }

  /** Formats the alternatives of a shape. */
  #formatEach(shape: unknown, depth: number): string[] {
    if (!isObject(shape) || this.#partsLeft-- <= 0) return ['any'];
    if (Object.hasOwn(shape, 'const')) return [writeStart(shape['const'], 40)];
    const { enum: choices, type } = shape;
    if (Array.isArray(choices)) return [formatChoices(choices)];
    const alternatives = listAlternatives(shape).flat();
    if (alternatives.length > 0) return this.#formatAlternatives(alternatives, depth);
    const types: readonly unknown[] = Array.isArray(type) ? type.slice(0, MAX_TYPES) : [type];
    return types.map((one) => this.#formatType(one, shape, depth));
  }

  /** Of a list of what the first alternative is, the fields are not repeated. */
  #formatAlternatives([first, ...others]: readonly ValueShape[], depth: number): string[] {
    if (this.#nested === MAX_NESTED) return ['any'];
    this.#nested++;
    const text = compared(first);
    const isListOfFirst = (each: ValueShape): boolean =>
      isObject(each) &&
      isObject(each['items']) &&
      text !== undefined &&
      compared(each['items'])?.includes(text) === true;
    const leading = this.#formatEach(first, depth);
    const shown = others.flatMap((each) =>
      isListOfFirst(each) ? ['list of these'] : this.#formatEach(each, depth),
    );
    this.#nested--;
    const hasFields = leading.some((each) => each.startsWith('{'));
    return [...leading, ...shown.filter((each) => !hasFields || each !== 'map')];
  }

  #formatType(type: unknown, shape: Readonly<Record<string, unknown>>, depth: number): string {
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
        return depth > 0 && isObject(items) ? `list of ${this.format(items, depth - 1)}` : 'list';
      }
      case 'object':
        return this.#formatObject(shape, depth);
      default:
        return 'any';
    }
  }

  #formatObject(shape: Readonly<Record<string, unknown>>, depth: number): string {
    const { properties, required, additionalProperties } = shape;
    if (!isObject(properties) || depth === 0) return 'map';
    const names = Object.keys(properties);
    const needed = new Set<unknown>(Array.isArray(required) ? required : names);
    const shown = names.slice(0, MAX_FIELDS).map((name) => {
      const mark = needed.has(name) ? '' : '?';
      return `${formatKey(name)}${mark}: ${this.format(properties[name], depth - 1)}`;
    });
    const hasMore = names.length > MAX_FIELDS || additionalProperties !== false;
    return `{${[...shown, ...(hasMore ? ['…'] : [])].join(', ')}}`;
  }
}

/** The text of a shape by which it is compared; undefined when it is long. */
function compared(shape: unknown): string | undefined {
  const text = writeStart(shape, MAX_COMPARED);
  return text.length < MAX_COMPARED ? text : undefined;
}

function formatChoices(choices: readonly unknown[]): string {
  const shown = choices.slice(0, MAX_CHOICES).map((choice) => writeStart(choice, 40));
  return [...shown, ...(choices.length > MAX_CHOICES ? ['…'] : [])].join(' | ');
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
