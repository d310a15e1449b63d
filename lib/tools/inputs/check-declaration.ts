import { findSchemaError } from '../../common/json-schema/ajv.js';
import { compileTrustedPattern } from '../../common/json-schema/bounded-pattern.js';
import { BoundedSchema } from '../../common/json-schema/bounded-schema.js';
import { CheckBudget } from '../../common/json-schema/check-budget.js';
import {
  ALLOWED_KEYWORDS,
  REFUSED_KEYWORDS,
  type SchemaError,
  SchemaReview,
  withArrayTypes,
} from '../../common/json-schema/keywords.js';
import { describeViolation, formatValuePath } from '../../common/json-schema/violation.js';
import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { hintForChoice } from '../../definition/schema/value-hints.js';
import { didYouMean, textOfHint } from '../../definition/problems/hint.js';
import { nearest } from '../../definition/did-you-mean.js';

/** The keywords that the declaration of an input shares with JSON Schema. */
export const SCHEMA_KEYWORDS = [
  'type',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'items',
  'properties',
] as const;

export const INPUT_FORMATS = [
  'jsonata',
  'bindings',
  'sql',
  'page-ranges',
  'column-types',
  'model',
  'fields',
  'period-end',
  'file-name',
] as const;

const INPUT_REGISTRIES = ['functions', 'schemas', 'sources'] as const;

/** A mistake in what an author declares of a tool. */
export class DeclarationError extends TypeError {
  /** A predicate of the tool, as {@link findDeclarationProblem} gives it. */
  readonly problem: string;

  constructor(name: string, problem: string) {
    super(`"${name}" cannot be defined: ${problem}`);
    this.problem = problem;
  }
}

/**
 * Describes the first mistake in what an author declares of a tool, as a predicate of the tool, and names the input at
 * fault; undefined when there is none. The compiler may not have checked the declaration. Loads a schema compiler only
 * for the keywords that schemas of callers may not have.
 */
export function findDeclarationProblem(declaration: Readonly<Record<string, unknown>>): string | undefined {
  const { description, inputs, output, version, repeatable, pure, run } = declaration;
  if (typeof run !== 'function') return 'it has no function "run"';
  if (!isObject(inputs) || !Object.values(inputs).every(isObject))
    return 'its "inputs" must be an object of {description, type, ...}';
  if (description !== undefined && typeof description !== 'string')
    return 'it needs a string as "description"';
  if (output !== undefined && !isOutput(output))
    return 'its "output" must have name, description and type, and its "schema" must be an object';
  if (version !== undefined && typeof version !== 'string') return 'its "version" must be a string';
  if (repeatable !== undefined && typeof repeatable !== 'boolean' && typeof repeatable !== 'function')
    return 'its "repeatable" must be true, false, or a function of the inputs';
  if (pure !== undefined && typeof pure !== 'boolean') return 'its "pure" must be true or false';
  return findInputProblem(inputs as Readonly<Record<string, InputFields>>);
}

function isOutput(output: unknown): boolean {
  return (
    isObject(output) &&
    ['name', 'description', 'type'].every((field) => typeof output[field] === 'string') &&
    (output['schema'] === undefined || isObject(output['schema']))
  );
}

type InputFields = Readonly<Record<string, unknown>>;

function findInputProblem(inputs: Readonly<Record<string, InputFields>>): string | undefined {
  let needsCompiler = false;
  for (const [name, declared] of Object.entries(inputs)) {
    const problem = findFieldProblem(declared);
    if (problem !== undefined) return `its input "${name}" ${problem}`;
    const { errors } = reviewKeywords(declared);
    const wrong = findKeywordProblem(errors) ?? findDefaultProblem(declared);
    if (wrong !== undefined) return `its input "${name}": ${wrong}`;
    needsCompiler ||= errors.length > 0;
  }
  if (!needsCompiler) return undefined;
  // A reference may lead to another input, so all of them are checked together.
  const properties = Object.entries(inputs).map(([name, declared]) => [name, pick(declared, KEYWORDS)]);
  const problem = findSchemaError(withArrayTypes({ properties: Object.fromEntries(properties) }));
  return problem && `its inputs are not a valid JSON Schema (2020-12): ${problem}`;
}

const FIELDS: readonly string[] = [
  'description',
  'required',
  'enum',
  'format',
  'verbatim',
  'registry',
  ...SCHEMA_KEYWORDS,
];

const TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'object'];

const NO_TYPE = 'leave type out to accept any value';

function findFieldProblem(declared: InputFields): string | undefined {
  const unknown = Object.keys(declared).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) {
    const meant = nearest(unknown, FIELDS);
    const hint = meant === undefined ? `the fields are ${FIELDS.join(', ')}` : didYouMean(meant);
    return `has an unknown field "${unknown}"; ${hint}`;
  }
  const { type, format, registry, required, verbatim, description } = declared;
  if (type !== undefined && type !== 'array' && !isAmong(TYPES, type)) {
    const hint = hintForChoice(['type'], type, TYPES) ?? `the types are ${TYPES.join(', ')}; ${NO_TYPE}`;
    return `has no valid type; ${textOfHint(hint)}`;
  }
  if (format !== undefined && !isAmong(INPUT_FORMATS, format))
    return `has an unknown "format"; there are ${INPUT_FORMATS.join(', ')}`;
  if (registry !== undefined && !isAmong(INPUT_REGISTRIES, registry))
    return `has an unknown "registry"; there are ${INPUT_REGISTRIES.join(', ')}`;
  if (required !== undefined && typeof required !== 'boolean') return 'needs true or false as "required"';
  if (verbatim !== undefined && typeof verbatim !== 'boolean') return 'needs true or false as "verbatim"';
  return description === undefined || typeof description === 'string'
    ? undefined
    : 'needs a string as "description"';
}

function isAmong(allowed: readonly string[], value: unknown): boolean {
  return allowed.some((choice) => choice === value);
}

/** The fields that are keywords of JSON Schema with a form of their own. */
const KEYWORDS: readonly string[] = [
  'enum',
  ...SCHEMA_KEYWORDS.filter((keyword) => keyword !== 'type' && keyword !== 'default'),
];

/** Unlike the schemas of callers, those of tools may have every keyword, and patterns of any length. */
function reviewKeywords(declared: InputFields): SchemaReview {
  const review = new SchemaReview({ pattern: reviewPattern });
  const present = KEYWORDS.filter((keyword) => declared[keyword] !== undefined);
  review.visitKeywords(declared, present, []);
  return review;
}

function findKeywordProblem(errors: readonly SchemaError[]): string | undefined {
  const error = errors.find(({ unknownKeyword = '' }) => !REFUSED_KEYWORDS.has(unknownKeyword));
  if (error === undefined) return undefined;
  const place = `"${formatValuePath(error.path)}"`;
  if (error.unknownKeyword === undefined) return `${place} ${error.message}`;
  const meant = nearest(error.unknownKeyword, [...ALLOWED_KEYWORDS, ...REFUSED_KEYWORDS]);
  return `${place} is no keyword of JSON Schema${meant === undefined ? '' : `; ${didYouMean(meant)}`}`;
}

/** Patterns of which linear matching might know less than JavaScript: look-around, references and long repetitions. */
const PERHAPS_NOT_LINEAR = /\(\?(?!:)|\\[1-9kpP]|\{\d*,?\d{4,}/;

/** Loads the library of linear patterns only where it might refuse: most processes that define tools match none. */
function reviewPattern(pattern: string): ReturnType<typeof compileTrustedPattern> {
  if (PERHAPS_NOT_LINEAR.test(pattern) || !isRegExp(pattern)) return compileTrustedPattern(pattern);
  return { ok: true, test: () => undefined };
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}

/** A default is checked without its members and its pattern: authors see their mistake at the first call. */
const CHECKED_OF_DEFAULTS = 'type enum minimum maximum minLength maxLength minItems maxItems'.split(' ');

function findDefaultProblem(declared: InputFields): string | undefined {
  const { default: fallback } = declared;
  if (fallback === undefined || fallback === null) return undefined;
  const schema = pick(declared, CHECKED_OF_DEFAULTS);
  const budget = new CheckBudget(Number.POSITIVE_INFINITY);
  const [violation] = new BoundedSchema(schema, budget, 1).findViolations(fallback as Json);
  return violation && describeViolation(violation, { one: '"default"', all: '"default"' });
}

function pick(declared: InputFields, keywords: readonly string[]): JsonObject {
  const present = keywords.filter((keyword) => declared[keyword] !== undefined);
  return Object.fromEntries(present.map((keyword) => [keyword, declared[keyword] as Json]));
}
