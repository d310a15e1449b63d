import { BoundedSchema } from '../common/json-schema/bounded-schema.js';
import { CheckBudget, TOO_MANY_STEPS } from '../common/json-schema/check-budget.js';
import { describeFirstViolations, MAX_SENTENCES } from '../common/json-schema/violation.js';
import { isObject, type Json, type JsonObject, setOwn } from '../common/json/json.js';
import { writeStart } from '../common/json/json-writer.js';
import { runToEnd, type Steps } from '../common/scheduling/steps.js';
import { formatFirst } from '../common/text.js';
import type { ParamDefinition, PipelineDefinition } from './schema/schema.js';
import { didYouMean } from './problems/hint.js';
import { Suggestions } from './did-you-mean.js';
import { scanInSteps } from './text/scan-value.js';

export type ResolvedParams =
  | { readonly ok: true; readonly values: JsonObject }
  | { readonly ok: false; readonly problems: string[] };

/** The types a parameter can have (D4). */
type ParamType = (typeof PARAM_TYPES)[number];

const PARAM_TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'object'] as const;

type Declaring = Pick<PipelineDefinition, 'params'>;

/**
 * Resolves the typed parameters of a pipeline (rule 10, D4): coerces and checks the supplied values and adds the
 * defaults. Reports every parameter that is missing, unknown or invalid, before anything runs.
 */
export function resolveParams(definition: Declaring, supplied: JsonObject): ResolvedParams {
  return runToEnd(resolveParamsInSteps(definition, supplied));
}

/** Resolves like `resolveParams`, in steps. Looks once at a list or an object that is the value of many params. */
export function* resolveParamsInSteps(
  { params = {} }: Declaring,
  supplied: JsonObject,
): Steps<ResolvedParams> {
  const declared = new Map(Object.entries(params));
  const budget = new CheckBudget();
  const usable = new WeakSet<object>();
  const values: JsonObject = {};
  const problems: string[] = [];
  let resolvedCount = 0;
  for (const [name, param] of declared) {
    if (problems.length > MAX_PROBLEMS) break;
    if (++resolvedCount % PARAMS_PER_STEP === 0 || schemaKeywords(param).length > 0) yield;
    const own = Object.hasOwn(supplied, name) ? supplied[name] : undefined;
    const value = own === undefined ? param.default : own;
    if (value === undefined) problems.push(describeMissingParam(name, param));
    else {
      const resolved = yield* resolveParamInSteps(name, param, value as Json, budget, usable);
      if (resolved.ok) setOwn(values, name, resolved.value);
      else problems.push(resolved.problem);
    }
  }
  if (problems.length > MAX_PROBLEMS) problems.splice(MAX_PROBLEMS, problems.length, 'and more');
  const all = [...describeUnknownParams(supplied, declared), ...problems];
  return all.length === 0 ? { ok: true, values } : { ok: false, problems: all };
}

/** Params without a schema take a microsecond each. */
const PARAMS_PER_STEP = 50;

/** How many params with an invalid value or without one are described. */
const MAX_PROBLEMS = 20;

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

type ResolvedParam =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string };

/**
 * Coerces one value to the declared type, then validates it against the JSON Schema keywords of the declaration. All
 * values that are checked together share `budget`, and `usable`: the lists and objects that were found to be JSON.
 */
export function* resolveParamInSteps(
  name: string,
  param: ParamDefinition,
  value: Json,
  budget: CheckBudget,
  usable: WeakSet<object>,
): Steps<ResolvedParam> {
  const isContainer = typeof value === 'object' && value !== null;
  if (!isContainer || !usable.has(value)) {
    const [unusable] = (yield* scanInSteps(value)).problems;
    if (unusable !== undefined)
      return { ok: false, problem: `param "${name}" cannot be used: ${unusable.message}` };
    if (isContainer) usable.add(value);
  }
  if (value === null && param.default === null) return { ok: true, value };
  const coerced = coerce(value, param.type ?? 'string');
  if (!coerced.ok) {
    const problem = `param "${name}" must be ${coerced.expected}, not ${writeStart(value, MAX_PREVIEW)}`;
    return { ok: false, problem };
  }
  const problems = describeViolated(name, param, coerced.value, budget);
  return problems.length === 0 ? coerced : { ok: false, problem: problems.join('; ') };
}

/** Characters of a wrong value that a message has. */
const MAX_PREVIEW = 60;

const KEYWORDS = ['enum', 'minimum', 'maximum', 'pattern', 'items', 'properties'] as const;

/** Lists the JSON Schema keywords of a parameter. */
export function schemaKeywords(param: ParamDefinition): (typeof KEYWORDS)[number][] {
  return KEYWORDS.filter((keyword) => param[keyword] !== undefined);
}

/** Describes the keywords that a value violates. Their values suit JSON Schema, or the definition is not valid. */
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

/** Returns true if a value is a parameter type; a definition that has not been checked may hold anything there. */
export function isParamType(type: unknown): type is ParamType {
  return PARAM_TYPES.some((known) => known === type);
}

type Coerced =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly expected: string };

/** Coerces a value to a type, if nothing is lost; lists and objects are never coerced (D4). */
export function coerce(value: Json, type: ParamType): Coerced {
  return COERCIONS[type](value);
}

const COERCIONS: Readonly<Record<ParamType, (value: Json) => Coerced>> = {
  string: (value) => (isScalar(value) ? { ok: true, value: String(value) } : { ok: false, expected: 'text' }),
  integer: toInteger,
  number: (value) => toNumber(value),
  boolean: toBoolean,
  list: (value) => (Array.isArray(value) ? { ok: true, value } : { ok: false, expected: 'a list' }),
  object: (value) => (isObject(value) ? { ok: true, value } : { ok: false, expected: 'an object' }),
};

function isScalar(value: Json): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** No two parts of this pattern match the same digits: a text that is no number takes time linear in its length. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A longer text is no number that anybody wrote. */
const MAX_NUMBER_LENGTH = 100;

function toNumber(value: Json, noun = 'a number'): Coerced {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text.length > MAX_NUMBER_LENGTH) {
    const isNumber = DECIMAL.test(text);
    return { ok: false, expected: isNumber ? `${noun} of at most ${MAX_NUMBER_LENGTH} characters` : noun };
  }
  const number = DECIMAL.test(text) ? Number(text) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return { ok: true, value: number };
  return { ok: false, expected: noun };
}

/** Rounds nothing: rejects fractions and integers beyond the exact ones. */
function toInteger(value: Json): Coerced {
  const noun = 'a whole number';
  const number = toNumber(value, noun);
  return number.ok && !Number.isSafeInteger(number.value) ? { ok: false, expected: noun } : number;
}

const TRUE = ['true', '1', 'yes'];
const FALSE = ['false', '0', 'no'];

function toBoolean(value: Json): Coerced {
  const word = isScalar(value) ? String(value).trim().toLowerCase() : '';
  if (TRUE.includes(word)) return { ok: true, value: true };
  return FALSE.includes(word) ? { ok: true, value: false } : { ok: false, expected: 'true or false' };
}
