import { CheckBudget } from '../../common/json-schema/check-budget.js';
import { SchemaReview } from '../../common/json-schema/keywords.js';
import { isObject, type Json, type JsonObject, parseJsonPointer } from '../../common/json/json.js';
import { MCP_LIMITS } from '../../common/limits.js';
import { cutDescription } from './describe-inputs.js';

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

/** Keywords that say nothing of which values are accepted. */
const UNCHECKED = new Set(
  'title description default examples $schema $id $comment $defs definitions nullable'.split(' '),
);

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
    const bounded = this.#boundKeywords(schema, depth, references);
    if (schema['nullable'] === true && isObject(bounded)) this.#allowNull(bounded);
    return bounded;
  }

  #boundKeywords(
    schema: Readonly<Record<string, unknown>>,
    depth: number,
    references: readonly string[],
  ): Json {
    const { $ref: reference } = schema;
    const bounded: JsonObject = {};
    for (const [keyword, operand] of Object.entries(schema)) {
      if (keyword === '$ref') continue;
      // Up to draft 7, a server ignores what stands beside a reference.
      const isLost = reference !== undefined && !UNCHECKED.has(keyword);
      const value = isLost
        ? this.#lose(undefined)
        : this.#boundKeyword(keyword, operand, schema, depth, references);
      if (value !== undefined) bounded[keyword] = value;
    }
    if (reference === undefined) return bounded;
    const found = this.#follow(reference, depth, references);
    return isObject(found) || (found === true && Object.keys(bounded).length > 0)
      ? { ...(isObject(found) && found), ...bounded }
      : found;
  }

  #follow(reference: unknown, depth: number, references: readonly string[]): Json {
    if (typeof reference !== 'string' || references.includes(reference)) return this.#lose(true);
    const target = this.#find(reference);
    if (target === undefined) return this.#lose(true);
    return this.bound(target, depth + 1, [...references, reference]);
  }

  /** As OpenAPI 3.0 writes that a value may be null. */
  #allowNull(bounded: JsonObject): void {
    for (const keyword of ['type', 'enum', 'const']) {
      if (!Object.hasOwn(bounded, keyword)) continue;
      delete bounded[keyword];
      this.#lose(undefined);
    }
  }

  #find(reference: string): unknown {
    if (!reference.startsWith('#/')) return undefined;
    let found: unknown = this.#root;
    for (const key of parseJsonPointer(reference)) {
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
      // The meaning of these two depends on keywords that are left out.
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
      default:
        if (UNCHECKED.has(keyword)) return undefined;
        return this.#isSound(keyword, operand) ? (operand as Json) : this.#lose(undefined);
    }
  }

  /** Returns true if a keyword without schemas in it is known, and can be checked in linear time. */
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
