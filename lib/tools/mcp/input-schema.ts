import { CheckBudget } from '../../common/json-schema/check-budget.js';
import { SchemaReview } from '../../common/json-schema/keywords.js';
import { isObject, type Json, type JsonObject } from '../../common/json.js';
import { MCP_LIMITS } from '../../common/limits.js';
import type { ToolInput } from '../tool.js';

/**
 * Turns the schema of a server into one that can be checked in bounded time, and accepts whatever the server's schema
 * accepts: local references are replaced by what they mean, and what takes more than linear time, is unknown, or refers to
 * itself is left out. The server checks the rest. Returns undefined when the schema is too large.
 */
export function boundSchema(schema: Readonly<Record<string, unknown>>): JsonObject | undefined {
  if (!fits(schema)) return undefined;
  const bounded = new SchemaBounder(schema).bound(schema, 0, []);
  return isObject(bounded) ? bounded : undefined;
}

/** A schema that is nested deeper than the stack allows does not fit either. */
function fits(schema: object): boolean {
  try {
    return JSON.stringify(schema).length <= MCP_LIMITS.schemaLength;
  } catch {
    return false;
  }
}

/** Keywords that hold schemas in which leaving something out would accept less. */
const REVERSING = new Set(['not', 'oneOf']);

class SchemaBounder {
  readonly #root: Readonly<Record<string, unknown>>;
  readonly #budget = new CheckBudget();
  #schemas = 0;
  /** How often something was left out. */
  #losses = 0;

  constructor(root: Readonly<Record<string, unknown>>) {
    this.#root = root;
  }

  /** @param references that lead to the schema, to find those that lead to themselves */
  bound(schema: unknown, depth: number, references: readonly string[]): Json {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema) || ++this.#schemas > MCP_LIMITS.schemas || depth > MCP_LIMITS.schemaDepth)
      return this.#lose(true);
    const { $ref: reference } = schema;
    if (reference !== undefined) return this.#follow(reference, depth, references);
    const bounded: JsonObject = {};
    for (const [keyword, operand] of Object.entries(schema)) {
      const value = this.#boundKeyword(keyword, operand, schema, depth, references);
      if (value !== undefined) bounded[keyword] = value;
    }
    // As OpenAPI 3.0 writes that a value may be null.
    if (schema['nullable'] === true) for (const keyword of ['type', 'enum', 'const']) delete bounded[keyword];
    return bounded;
  }

  #follow(reference: unknown, depth: number, references: readonly string[]): Json {
    if (typeof reference !== 'string' || references.includes(reference)) return this.#lose(true);
    const target = this.#find(reference);
    if (target === undefined) return this.#lose(true);
    return this.bound(target, depth + 1, [...references, reference]);
  }

  #find(reference: string): unknown {
    if (!reference.startsWith('#/')) return undefined;
    let found: unknown = this.#root;
    for (const part of reference.slice(2).split('/')) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (!isObject(found) || !Object.hasOwn(found, key)) return undefined;
      found = found[key];
    }
    return found;
  }

  #boundKeyword(
    keyword: string,
    operand: unknown,
    schema: Readonly<Record<string, unknown>>,
    depth: number,
    references: readonly string[],
  ): Json | undefined {
    const boundOne = (inner: unknown): Json => this.bound(inner, depth + 1, references);
    const lossesBefore = this.#losses;
    switch (keyword) {
      // Their meaning depends on keywords that are left out.
      case 'items':
        if (Array.isArray(operand) || 'additionalItems' in schema) return this.#lose(undefined);
        return boundOne(operand);
      case 'additionalProperties':
        return 'patternProperties' in schema ? this.#lose(undefined) : boundOne(operand);
      case 'not':
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
      case 'prefixItems': {
        const isList = keyword !== 'not';
        if (isList !== Array.isArray(operand)) return this.#lose(undefined);
        const bounded = Array.isArray(operand) ? operand.map(boundOne) : boundOne(operand);
        if (Array.isArray(bounded) && bounded.length === 0) return this.#lose(undefined);
        return REVERSING.has(keyword) && this.#losses > lossesBefore ? undefined : bounded;
      }
      case 'properties': {
        if (!isObject(operand)) return this.#lose(undefined);
        const members = Object.entries(operand).map(([key, inner]) => [key, boundOne(inner)] as const);
        return Object.fromEntries<Json>(members);
      }
      case 'title':
      case 'description':
        return typeof operand === 'string' ? cutDescription(operand) : undefined;
      case 'default':
      case 'examples':
      case '$schema':
      case '$id':
      case '$comment':
      case '$defs':
      case 'definitions':
      case 'nullable':
        return undefined;
      default:
        return this.#isSound(keyword, operand) ? (operand as Json) : this.#lose(undefined);
    }
  }

  /** Whether a keyword without schemas in it is known, and can be checked in linear time. */
  #isSound(keyword: string, operand: unknown): boolean {
    const review = new SchemaReview(this.#budget);
    review.visitKeywords({ [keyword]: operand }, [keyword], []);
    return review.errors.length === 0 && !this.#budget.isExceeded;
  }

  #lose<T>(instead: T): T {
    this.#losses++;
    return instead;
  }
}

/** Replaces line breaks and control characters, and cuts what is long: it is shown in terminals and lists. */
export function cutDescription(text: string): string {
  const line = text.slice(0, 4 * MCP_LIMITS.descriptionLength).replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
  const { descriptionLength } = MCP_LIMITS;
  return line.length <= descriptionLength ? line.trim() : `${line.slice(0, descriptionLength).trim()}…`;
}

const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object']);

/**
 * Describes the inputs of a tool one by one, for lists of tools: what their schemas say beside descriptions, types and
 * values is checked, but not listed.
 *
 * @param schema bounded
 */
export function describeInputs(schema: JsonObject): Record<string, ToolInput> {
  const { properties, required } = schema;
  const names: readonly Json[] = Array.isArray(required) ? required : [];
  const inputs = Object.entries(isObject(properties) ? properties : {}).map(
    ([name, property]): [string, ToolInput] => [name, describeInput(property, names.includes(name))],
  );
  return Object.fromEntries(inputs);
}

function describeInput(property: Json, required: boolean): ToolInput {
  const { description, title, type, enum: values } = isObject(property) ? property : {};
  const text = [description, title].find((part) => typeof part === 'string' && part !== '');
  return {
    description: typeof text === 'string' ? text : '',
    ...(TYPES.has(type) && { type: type as NonNullable<ToolInput['type']> }),
    ...(Array.isArray(values) && { enum: values }),
    ...(required && { required }),
  };
}

/**
 * Whether a tool takes inputs that its schema does not name. A schema that names some, and says nothing of others, would
 * allow them; nearly always they are misspelt, and no server of this kind reads them.
 */
export function takesOtherInputs({ properties, additionalProperties }: JsonObject): boolean {
  if (additionalProperties !== undefined) return additionalProperties !== false;
  return !isObject(properties) || Object.keys(properties).length === 0;
}
