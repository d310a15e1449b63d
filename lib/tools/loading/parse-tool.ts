import { errorMessage } from '../../common/errors.js';
import { findSchemaError } from '../../common/json-schema/ajv.js';
import { compileTrustedPattern } from '../../common/json-schema/bounded-pattern.js';
import { ALLOWED_KEYWORDS, REFUSED_KEYWORDS, SchemaReview } from '../../common/json-schema/keywords.js';
import { formatValuePath } from '../../common/json-schema/violation.js';
import { describeKind, isObject, type JsonObject } from '../../common/json/json.js';
import { hintForChoice } from '../../definition/schema/value-hints.js';
import { didYouMean, textOfHint } from '../../definition/problems/hint.js';
import { nearest } from '../../definition/did-you-mean.js';
import { areFlat } from '../inputs/flat-validator.js';
import { createInputSchema, SCHEMA_KEYWORDS } from '../inputs/schema-validator.js';
import { defineFunction } from '../builtin/compute/function.js';
import { sourceOf } from '../builtin/web/fetch-data/source.js';
import { defineSchema } from '../schemas/schema.js';
import {
  type CatalogEntry,
  type InputDeclaration,
  type InputDeclarations,
  defineTool,
  normalizeInputs,
  type RegisteredSchema,
  type Registries,
  type Tool,
  type ToolDeclaration,
  type ToolInput,
} from '../tool.js';
import type { OutputDeclaration } from '../schemas/output.js';

const parsed = new WeakMap<object, CatalogEntry>();

/**
 * Accepts a tool by its shape (name, inputs, run), since it may come from another copy of this package or be a plain
 * object; a function or a schema by its `kind`. The same value always returns the same entry.
 *
 * @throws Error that describes the first invalid part
 */
export function parseTool(value: unknown, label: string): CatalogEntry {
  if (!isObject(value)) throw new Error(`${label} is ${describeKind(value)}, not a tool`);
  const existing = parsed.get(value);
  if (existing !== undefined) return existing;
  const entry = value['kind'] === 'schema' ? parseSchema(value, label) : defineParsed(value, label);
  parsed.set(value, entry);
  return entry;
}

function parseSchema(
  { name, description, fields }: Record<string, unknown>,
  label: string,
): RegisteredSchema {
  if (typeof name !== 'string') throw new Error(`${label} is not a schema: it has no name`);
  if (!Array.isArray(fields))
    throw new Error(`${label} ("${name}") is not a schema: it has no list "fields"`);
  try {
    return defineSchema({ name, description: typeof description === 'string' ? description : '', fields });
  } catch (error) {
    throw new Error(`${label} is not a schema: ${errorMessage(error)}`, { cause: error });
  }
}

function defineParsed(value: Record<string, unknown>, label: string): Tool {
  const { kind, name, description, inputs, openInputs, output, version, repeatable, pure, run } = value;
  const define: Define = kind === 'function' ? defineFunction : kind === 'source' ? sourceOf : defineTool;
  const what = kind === 'function' || kind === 'source' ? kind : 'tool';
  if (typeof name !== 'string') throw new Error(`${label} is not a ${what}: it has no name`);
  const invalid = (reason: string): Error => new Error(`${label} ("${name}") is not a ${what}: ${reason}`);
  if (typeof run !== 'function') throw invalid('it has no function "run"');
  if (!areDeclarations(inputs)) throw invalid('its "inputs" must be an object of {description, type, ...}');
  if (output !== undefined && !isOutput(output))
    throw invalid('its "output" must have name, description and type, and its "schema" must be an object');
  if (repeatable !== undefined && typeof repeatable !== 'boolean' && !isDecision(repeatable))
    throw invalid('its "repeatable" must be true, false, or a function of the inputs');
  if (pure !== undefined && typeof pure !== 'boolean') throw invalid('its "pure" must be true or false');
  const problem = findInputProblem(inputs);
  if (problem !== undefined) throw invalid(problem);
  try {
    return define({
      name,
      description: typeof description === 'string' ? description : '',
      inputs: withDescriptions(inputs),
      openInputs: openInputs === true,
      ...(output !== undefined && { output }),
      ...(repeatable !== undefined && { repeatable }),
      ...(pure !== undefined && { pure }),
      // The version is the text of the author's function, which the function below hides.
      version: typeof version === 'string' ? version : String(run),
      run: (...args): unknown => Reflect.apply(run, value, args),
    });
  } catch (error) {
    throw invalid(errorMessage(error));
  }
}

/** Makes a tool, a function or a source. */
type Define = (
  declaration: ToolDeclaration<InputDeclarations> & { readonly run: (...args: unknown[]) => unknown },
) => Tool;

function isDecision(value: unknown): value is (written: JsonObject) => boolean {
  return typeof value === 'function';
}

function areDeclarations(inputs: unknown): inputs is UncheckedDeclarations {
  return isObject(inputs) && Object.values(inputs).every(isObject);
}

function isOutput(output: unknown): output is OutputDeclaration {
  return (
    isObject(output) &&
    ['name', 'description', 'type'].every((field) => typeof output[field] === 'string') &&
    (output['schema'] === undefined || isObject(output['schema']))
  );
}

function withDescriptions(inputs: UncheckedDeclarations): InputDeclarations {
  const described = Object.entries(inputs).map(([name, declared]): [string, InputDeclaration] => [
    name,
    { description: '', ...declared },
  ]);
  return Object.fromEntries(described);
}

/** Declarations that the compiler may not have checked. */
type UncheckedDeclarations = Readonly<Record<string, Partial<InputDeclaration>>>;

const FIELDS: readonly string[] = [
  'description',
  'required',
  'enum',
  'format',
  'verbatim',
  'registry',
  ...SCHEMA_KEYWORDS,
];

/** Describes the first invalid input; undefined when all are valid. */
function findInputProblem(authored: UncheckedDeclarations): string | undefined {
  for (const [name, declared] of Object.entries(authored)) {
    const problem = findFieldProblem(declared);
    if (problem !== undefined) return `its input "${name}" ${problem}`;
  }
  const inputs = normalizeInputs(withDescriptions(authored));
  if (areFlat(inputs)) return undefined;
  for (const [name, declared] of Object.entries(inputs)) {
    const problem = findKeywordProblem(declared);
    if (problem !== undefined) return `its input "${name}": ${problem}`;
  }
  const problem = findSchemaError(createInputSchema({ inputs, openInputs: false }));
  return problem === undefined ? undefined : `its inputs are not a valid JSON Schema (2020-12): ${problem}`;
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'object'];

const NO_TYPE = 'leave type out to accept any value';

function findFieldProblem(declared: Partial<InputDeclaration>): string | undefined {
  const unknown = Object.keys(declared).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) {
    const meant = nearest(unknown, FIELDS);
    const hint = meant === undefined ? `the fields are ${FIELDS.join(', ')}` : didYouMean(meant);
    return `has an unknown field "${unknown}"; ${hint}`;
  }
  const { type, format, registry, required, verbatim, description } = declared;
  if (type !== undefined && type !== 'array' && !TYPES.includes(type)) {
    const hint = hintForChoice(['type'], type, TYPES) ?? `the types are ${TYPES.join(', ')}; ${NO_TYPE}`;
    return `has no valid type; ${textOfHint(hint)}`;
  }
  if (format !== undefined && !FORMATS.includes(format))
    return `has an unknown "format"; there are ${FORMATS.join(', ')}`;
  if (registry !== undefined && !REGISTRIES.includes(registry))
    return `has an unknown "registry"; there are ${REGISTRIES.join(', ')}`;
  if (required !== undefined && typeof required !== 'boolean') return 'needs true or false as "required"';
  if (verbatim !== undefined && typeof verbatim !== 'boolean') return 'needs true or false as "verbatim"';
  return description === undefined || typeof description === 'string'
    ? undefined
    : 'needs a string as "description"';
}

const FORMATS: readonly string[] = [
  'jsonata',
  'sql',
  'page-ranges',
  'column-types',
  'model',
  'fields',
  'period-end',
] satisfies InputDeclaration['format'][];

const REGISTRIES: readonly string[] = ['functions', 'schemas', 'sources'] satisfies (keyof Registries)[];

/** The fields that are keywords of JSON Schema with a form of their own. */
const KEYWORDS = [
  'enum',
  ...SCHEMA_KEYWORDS.filter((keyword) => keyword !== 'type' && keyword !== 'default'),
] as const;

/** Unlike the schemas of callers, those of tools may have every keyword, and patterns of any length. */
function findKeywordProblem(declared: ToolInput): string | undefined {
  const review = new SchemaReview({ pattern: compileTrustedPattern });
  const present = KEYWORDS.filter((keyword) => declared[keyword] !== undefined);
  review.visitKeywords({ ...declared }, present, []);
  const error = review.errors.find(({ unknownKeyword = '' }) => !REFUSED_KEYWORDS.has(unknownKeyword));
  if (error === undefined) return undefined;
  const place = `"${formatValuePath(error.path)}"`;
  if (error.unknownKeyword === undefined) return `${place} ${error.message}`;
  const meant = nearest(error.unknownKeyword, [...ALLOWED_KEYWORDS, ...REFUSED_KEYWORDS]);
  return `${place} is no keyword of JSON Schema${meant === undefined ? '' : `; ${didYouMean(meant)}`}`;
}
