import { BoundedSchema } from '../common/json-schema/bounded-schema.js';
import { CheckBudget, TOO_MANY_STEPS } from '../common/json-schema/check-budget.js';
import { describeFirstViolations, MAX_SENTENCES } from '../common/json-schema/violation.js';
import { isObject, type Json, type JsonObject, setOwn } from '../common/json.js';
import { copyText, formatFirst } from '../common/text.js';
import type { ParamDefinition, PipelineDefinition } from './schema/schema.js';
import { didYouMean } from './hint.js';
import { Suggestions } from './suggest.js';
import { scanValue } from './text/scan-value.js';

export type ResolvedParams =
  | { readonly ok: true; readonly values: JsonObject }
  | { readonly ok: false; readonly problems: string[] };

/** The types a parameter can have (D4). */
type ParamType = (typeof PARAM_TYPES)[number];

const PARAM_TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'object'] as const;

/**
 * Resolves the typed parameters of a pipeline (rule 10, D4): coerces and checks the supplied values and adds the
 * defaults. Reports every parameter that is missing, unknown or invalid, before anything runs.
 */
export function resolveParams(
  definition: Pick<PipelineDefinition, 'params'>,
  supplied: JsonObject,
): ResolvedParams {
  const declared = new Map(Object.entries(definition.params ?? {}));
  const budget = new CheckBudget();
  const values: JsonObject = {};
  const problems: string[] = [];
  for (const [name, param] of declared) {
    if (problems.length > MAX_PROBLEMS) break;
    const own = Object.hasOwn(supplied, name) ? supplied[name] : undefined;
    const value = own === undefined ? param.default : own;
    if (value === undefined) problems.push(describeMissingParam(name, param));
    else {
      const resolved = resolveParam(name, param, value as Json, budget);
      if (resolved.ok) setOwn(values, name, resolved.value);
      else problems.push(resolved.problem);
    }
  }
  const all = [...describeUnknownParams(supplied, declared), ...limitProblems(problems)];
  return all.length === 0 ? { ok: true, values } : { ok: false, problems: all };
}

/** How many params with an invalid value or without one are described. */
const MAX_PROBLEMS = 20;

function limitProblems(problems: string[]): string[] {
  return problems.length > MAX_PROBLEMS ? [...problems.slice(0, MAX_PROBLEMS), 'and more'] : problems;
}

/** How many names a message lists; each unknown name is compared with declared ones. */
const MAX_NAMES = 20;

function describeUnknownParams(supplied: JsonObject, declared: ReadonlyMap<string, unknown>): string[] {
  const unknown = Object.keys(supplied).filter((name) => !declared.has(name));
  const suggestions = new Suggestions();
  return formatFirst(unknown, MAX_NAMES, (name) => {
    const meant = suggestions.nearest(name, declared.keys());
    return `there is no param "${name}"; ${meant === undefined ? listNames(declared) : didYouMean(meant)}`;
  });
}

function listNames(declared: ReadonlyMap<string, unknown>): string {
  if (declared.size === 0) return 'the pipeline has none';
  const names = [...declared.keys()].slice(0, MAX_NAMES).join(', ');
  return `the params are ${names}${declared.size > MAX_NAMES ? ', …' : ''}`;
}

function describeMissingParam(name: string, { type, description }: ParamDefinition): string {
  const purpose = description === undefined ? '' : `: ${description}`;
  return `param "${name}" (${type ?? 'string'}) is required${purpose}`;
}

/**
 * Coerces one value to the declared type, then validates it against the JSON Schema keywords of the declaration.
 *
 * @param budget of this value and of all that are checked with it
 */
export function resolveParam(
  name: string,
  param: ParamDefinition,
  value: Json,
  budget: CheckBudget,
): { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string } {
  const [unusable] = scanValue(value);
  if (unusable !== undefined)
    return { ok: false, problem: `param "${name}" cannot be used: ${unusable.message}` };
  if (value === null && param.default === null) return { ok: true, value };
  const coerced = coerce(value, param.type ?? 'string');
  if (!coerced.ok) {
    return { ok: false, problem: `param "${name}" must be ${coerced.expected}, not ${preview(value)}` };
  }
  const problems = describeViolated(name, param, coerced.value, budget);
  return problems.length === 0 ? coerced : { ok: false, problem: problems.join('; ') };
}

function preview(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${copyText(text.slice(0, 57))}...` : text;
}

const KEYWORDS = ['enum', 'minimum', 'maximum', 'pattern', 'items', 'properties'] as const;

/** Lists the JSON Schema keywords of a parameter. */
export function schemaKeywords(param: ParamDefinition): (typeof KEYWORDS)[number][] {
  return KEYWORDS.filter((keyword) => param[keyword] !== undefined);
}

/** Describes the keywords that a value violates. They hold what JSON Schema allows, or the definition is not valid. */
function describeViolated(name: string, param: ParamDefinition, value: Json, budget: CheckBudget): string[] {
  const keywords = schemaKeywords(param);
  if (keywords.length === 0) return [];
  const entries = keywords.map((keyword) => [keyword, param[keyword] as Json] as const);
  const schema = new BoundedSchema(Object.fromEntries(entries), budget, MAX_SENTENCES);
  const violations = schema.findViolations(value);
  if (budget.isExceeded) return [`param "${name}" ${TOO_MANY_STEPS}`];
  const nouns = { one: `param "${name}": field`, all: `param "${name}"`, hideValues: true };
  return describeFirstViolations(violations, nouns);
}

/** Whether this is a parameter type; a definition that has not been checked may hold anything there. */
export function isParamType(type: unknown): type is ParamType {
  return PARAM_TYPES.some((known) => known === type);
}

type Coerced =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly expected: string };

/** Coerces a value to a type, if nothing is lost; lists and objects are never coerced (D4). */
export function coerce(value: Json, type: ParamType): Coerced {
  switch (type) {
    case 'string':
      return isScalar(value) ? { ok: true, value: String(value) } : { ok: false, expected: 'text' };
    case 'integer':
      return toInteger(value);
    case 'number':
      return toNumber(value);
    case 'boolean':
      return toBoolean(value);
    case 'list':
      return Array.isArray(value) ? { ok: true, value } : { ok: false, expected: 'a list' };
    case 'object':
      return isObject(value) ? { ok: true, value } : { ok: false, expected: 'an object' };
  }
}

function isScalar(value: Json): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function toNumber(value: Json): Coerced {
  const number = typeof value === 'string' && DECIMAL.test(value.trim()) ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return { ok: true, value: number };
  return { ok: false, expected: 'a number' };
}

/** Rounds nothing: rejects fractions and integers beyond the exact ones. */
function toInteger(value: Json): Coerced {
  const number = toNumber(value);
  if (number.ok && Number.isSafeInteger(number.value)) return number;
  return { ok: false, expected: 'a whole number' };
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
]);

function toBoolean(value: Json): Coerced {
  if (typeof value === 'boolean') return { ok: true, value };
  const boolean = isScalar(value) ? BOOLEANS.get(String(value).trim().toLowerCase()) : undefined;
  return boolean === undefined ? { ok: false, expected: 'true or false' } : { ok: true, value: boolean };
}
