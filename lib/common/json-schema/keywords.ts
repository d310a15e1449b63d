import { isObject } from '../json/json.js';
import type { CheckBudget } from './check-budget.js';
import { TYPE_TESTS } from './value-tests.js';

/** The form that the value of a keyword must have. */
type Form =
  | 'annotation'
  | 'any'
  | 'count'
  | 'names'
  | 'number'
  | 'pattern'
  | 'positive'
  | 'schema'
  | 'schema list'
  | 'schema map'
  | 'types'
  | 'values';

/**
 * The keywords of JSON Schema that a schema of a caller may have (D4); a type may also be `list`, as that of a param. All others are refused: with references a check
 * may take exponential time, and with `uniqueItems`, `contains` and the like more than linear time.
 */
const FORMS: Readonly<Record<string, Form>> = {
  type: 'types',
  enum: 'values',
  const: 'any',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'positive',
  minLength: 'count',
  maxLength: 'count',
  pattern: 'pattern',
  items: 'schema',
  prefixItems: 'schema list',
  minItems: 'count',
  maxItems: 'count',
  properties: 'schema map',
  required: 'names',
  additionalProperties: 'schema',
  minProperties: 'count',
  maxProperties: 'count',
  allOf: 'schema list',
  anyOf: 'schema list',
  oneOf: 'schema list',
  not: 'schema',
  title: 'annotation',
  description: 'annotation',
  default: 'annotation',
  examples: 'annotation',
  format: 'annotation',
  deprecated: 'annotation',
  readOnly: 'annotation',
  writeOnly: 'annotation',
  $comment: 'annotation',
};

export const ALLOWED_KEYWORDS: readonly string[] = Object.keys(FORMS);

/** Returns true for an allowed keyword that checks nothing. */
export function isAnnotation(keyword: string): boolean {
  return Object.hasOwn(FORMS, keyword) && FORMS[keyword] === 'annotation';
}

/** Keywords of JSON Schema, thus not misspelt, that are not allowed. */
export const REFUSED_KEYWORDS: ReadonlySet<string> = new Set(
  `$anchor $defs $dynamicAnchor $dynamicRef $id $ref $schema $vocabulary additionalItems contains contentEncoding
  contentMediaType contentSchema definitions dependencies dependentRequired dependentSchemas else if maxContains
  minContains nullable patternProperties propertyNames then unevaluatedItems unevaluatedProperties uniqueItems`.split(
    /\s+/,
  ),
);

const TYPES: ReadonlySet<unknown> = new Set(Object.keys(TYPE_TESTS));

export interface SchemaError {
  /** Keys and indexes from the schema to the keyword. */
  readonly path: readonly (string | number)[];
  readonly unknownKeyword?: string;
  /** A sentence without a subject: `must be a number`. */
  readonly message: string;
}

/** More errors would not help. */
const MAX_ERRORS = 20;

/** Finds what is wrong with schemas of callers, and counts the schemas, at any depth. */
export class SchemaReview {
  readonly errors: SchemaError[] = [];
  readonly #budget: Pick<CheckBudget, 'pattern'>;
  readonly #maxSchemas: number;
  #schemas = 0;

  /** @param budget bounds the time for compiling patterns @param maxSchemas the review ends when it has seen more */
  constructor(budget: Pick<CheckBudget, 'pattern'>, maxSchemas = Infinity) {
    this.#budget = budget;
    this.#maxSchemas = maxSchemas;
  }

  get hasTooManySchemas(): boolean {
    return this.#schemas > this.#maxSchemas;
  }

  /** Adds the errors of a schema, and of all schemas in it. */
  visit(schema: unknown, path: readonly (string | number)[]): void {
    if (isObject(schema)) this.visitKeywords(schema, Object.keys(schema), path);
    else if (typeof schema === 'boolean') this.#schemas++;
    else this.#report(path, 'must be a schema: an object, true or false');
  }

  /** Adds the errors of an object of which some keywords are a schema. */
  visitKeywords(
    schema: Readonly<Record<string, unknown>>,
    keywords: readonly string[],
    path: readonly (string | number)[],
  ): void {
    this.#schemas++;
    for (const keyword of keywords) {
      if (this.#isOver) return;
      this.#visitKeyword(keyword, schema[keyword], [...path, keyword]);
    }
  }

  #visitKeyword(keyword: string, operand: unknown, path: readonly (string | number)[]): void {
    const form = Object.hasOwn(FORMS, keyword) ? FORMS[keyword] : undefined;
    switch (form) {
      case undefined:
        this.errors.push({ path, unknownKeyword: keyword, message: 'is not allowed here' });
        return;
      case 'annotation':
      case 'any':
        return;
      case 'schema':
        return this.visit(operand, path);
      case 'schema list':
        if (!Array.isArray(operand) || operand.length === 0)
          return this.#report(path, 'must be a list of schemas');
        return this.#visitAll(operand.entries(), path);
      case 'schema map':
        if (!isObject(operand)) return this.#report(path, 'must be an object of schemas');
        return this.#visitAll(Object.entries(operand), path);
      default: {
        const message = this.#findError(form, operand);
        if (message !== undefined) this.#report(path, message);
      }
    }
  }

  #visitAll(schemas: Iterable<[string | number, unknown]>, path: readonly (string | number)[]): void {
    for (const [key, schema] of schemas) {
      if (this.#isOver) return;
      this.visit(schema, [...path, key]);
    }
  }

  get #isOver(): boolean {
    return this.errors.length >= MAX_ERRORS || this.hasTooManySchemas;
  }

  #findError(
    form: Exclude<Form, 'annotation' | 'any' | `schema${string}`>,
    operand: unknown,
  ): string | undefined {
    switch (form) {
      case 'number':
        return Number.isFinite(operand) ? undefined : 'must be a number';
      case 'positive':
        return Number.isFinite(operand) && Number(operand) > 0 ? undefined : 'must be a number above 0';
      case 'count':
        return Number.isInteger(operand) && Number(operand) >= 0
          ? undefined
          : 'must be a whole number from 0 on';
      case 'names':
        return isTextList(operand) ? undefined : 'must be a list of names';
      case 'values':
        return Array.isArray(operand) && operand.length > 0 ? undefined : 'must be a list of values';
      case 'types':
        return findTypeError(operand);
      case 'pattern':
        return this.#findPatternError(operand);
    }
  }

  #findPatternError(operand: unknown): string | undefined {
    if (typeof operand !== 'string') return 'must be text';
    const pattern = this.#budget.pattern(operand);
    return pattern.ok ? undefined : pattern.problem;
  }

  #report(path: readonly (string | number)[], message: string): void {
    this.errors.push({ path, message });
  }
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function findTypeError(operand: unknown): string | undefined {
  const wrong = [operand].flat().find((type) => !TYPES.has(type));
  if (wrong === undefined && !(Array.isArray(operand) && operand.length === 0)) return undefined;
  return `must be one of ${[...TYPES].join(', ')}, or a list of them`;
}

/** Keywords that hold a schema for each of their keys. */
const SCHEMA_MAPS = new Set('properties patternProperties dependentSchemas $defs definitions'.split(' '));

/** Keywords that hold values, names or words, in which `type` is no keyword. */
const WITHOUT_SCHEMAS = new Set('const enum default examples required dependentRequired'.split(' '));

/**
 * Writes the type `list`, which schemas in this project may have, as `array`, at any depth: for whoever knows only JSON
 * Schema, such as a compiler of schemas or a language model. Returns the schema itself when it has none.
 */
export function withArrayTypes<S>(schema: S): S {
  return isObject(schema) ? (mapMembers(schema, rewriteKeyword) as S) : schema;
}

function rewriteKeyword(operand: unknown, keyword: string): unknown {
  if (keyword === 'type') {
    const rename = (type: unknown): unknown => (type === 'list' ? 'array' : type);
    return Array.isArray(operand) && operand.includes('list') ? operand.map(rename) : rename(operand);
  }
  if (WITHOUT_SCHEMAS.has(keyword)) return operand;
  if (Array.isArray(operand)) {
    const schemas = operand.map(withArrayTypes);
    return schemas.some((schema, i) => schema !== operand[i]) ? schemas : operand;
  }
  if (SCHEMA_MAPS.has(keyword) && isObject(operand)) return mapMembers(operand, withArrayTypes);
  return withArrayTypes(operand);
}

/** Returns the object itself when no member changes. */
function mapMembers(object: object, map: (member: unknown, key: string) => unknown): object {
  const entries = Object.entries(object).map(([key, member]) => [key, member, map(member, key)] as const);
  if (entries.every(([, before, after]) => before === after)) return object;
  return Object.fromEntries(entries.map(([key, , after]) => [key, after]));
}
