import { compileSchema } from '../common/json-schema/ajv.js';
import { isObject, type Json, type JsonObject, kindOf, setOwn } from '../common/json.js';
import type { ParamDefinition, PipelineDefinition } from './schema/schema.js';
import { nearest } from './suggest.js';
import { scanValue } from './text/scan.js';

export type ResolvedParams =
  | { readonly ok: true; readonly values: JsonObject }
  | { readonly ok: false; readonly problems: string[] };

/**
 * The values of a pipeline's typed parameters (rule 10, D4): those given, coerced and checked, and the defaults of
 * the rest. Reports every parameter that is missing, unknown or of the wrong kind, before anything runs.
 */
export function resolveParams(
  definition: Pick<PipelineDefinition, 'params'>,
  given: JsonObject,
): ResolvedParams {
  const declared = new Map(Object.entries(definition.params ?? {}));
  const values: JsonObject = {};
  const problems = unknownParams(given, declared);
  for (const [name, param] of declared) {
    const own = Object.hasOwn(given, name) ? given[name] : undefined;
    const value = own === undefined ? param.default : own;
    if (value === undefined) problems.push(missingParam(name, param));
    else {
      const resolved = resolveParam(name, param, value as Json);
      if (resolved.ok) setOwn(values, name, resolved.value);
      else problems.push(resolved.problem);
    }
  }
  return problems.length === 0 ? { ok: true, values } : { ok: false, problems };
}

/** One value against one declaration: coerced to its type, then held against its JSON Schema keywords. */
export function resolveParam(
  name: string,
  param: ParamDefinition,
  value: Json,
): { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string } {
  const [broken] = scanValue(value);
  if (broken !== undefined)
    return { ok: false, problem: `param "${name}" cannot be used: ${broken.message}` };
  if (value === null && param.default === null) return { ok: true, value };
  const coerced = coerce(value, param.type ?? 'string');
  if (!coerced.ok) {
    const problem = `param "${name}" must be ${coerced.expected}; it is ${shown(value)}`;
    return { ok: false, problem };
  }
  const errors = keywordCheck(param)?.(coerced.value) ?? [];
  return errors.length === 0 ? coerced : { ok: false, problem: `param "${name}" ${errors.join(', and ')}` };
}

const KEYWORDS = ['enum', 'minimum', 'maximum', 'pattern', 'items', 'properties'] as const;

/** Those that a parameter carries, and that are compiled before a run. */
export function keywordsOf(param: ParamDefinition): (typeof KEYWORDS)[number][] {
  return KEYWORDS.filter((keyword) => param[keyword] !== undefined);
}

/** The check of a parameter's JSON Schema keywords; undefined when it has none. Throws when one of them is no schema. */
export function keywordCheck(param: ParamDefinition): ((value: Json) => string[]) | undefined {
  const keywords = keywordsOf(param);
  if (keywords.length === 0) return undefined;
  const validate = compileSchema(Object.fromEntries(keywords.map((keyword) => [keyword, param[keyword]])));
  return (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params: { allowedValues } }) => {
      const where = instancePath === '' ? '' : `at ${instancePath} `;
      const allowed = Array.isArray(allowedValues)
        ? `: ${allowedValues.map((one) => JSON.stringify(one)).join(', ')}`
        : '';
      return `${where}${message ?? 'is not valid'}${allowed}`;
    });
  };
}

/** More names than this help nobody, and each costs a look at every known one; the rest is counted. */
const TOLD = 20;

function unknownParams(given: JsonObject, declared: ReadonlyMap<string, unknown>): string[] {
  const unknown = Object.keys(given).filter((name) => !declared.has(name));
  const told = unknown.slice(0, TOLD).map((name) => unknownParam(name, declared));
  return unknown.length > TOLD ? [...told, `and ${unknown.length - TOLD} more are unknown`] : told;
}

function unknownParam(name: string, declared: ReadonlyMap<string, unknown>): string {
  const near = nearest(name, declared.keys());
  const hint = near === undefined ? namesOf(declared) : `did you mean "${near}"?`;
  return `there is no param "${name}"; ${hint}`;
}

function namesOf(declared: ReadonlyMap<string, unknown>): string {
  if (declared.size === 0) return 'the pipeline has none';
  const names = [...declared.keys()].slice(0, TOLD).join(', ');
  return `the params are ${names}${declared.size > TOLD ? ', …' : ''}`;
}

function missingParam(name: string, { type, description }: ParamDefinition): string {
  const what = description === undefined ? '' : `: ${description}`;
  return `param "${name}" (${type ?? 'string'}) is required${what}`;
}

function shown(value: Json): string {
  const text = JSON.stringify(value) ?? kindOf(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** The types a parameter can have (D4). */
type ParamType = (typeof PARAM_TYPES)[number];

const PARAM_TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'object'] as const;

/** Says whether it is one; definitions that are not checked yet may hold anything in its place. */
export function isParamType(type: unknown): type is ParamType {
  return PARAM_TYPES.some((known) => known === type);
}

type Coerced =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly expected: string };

/** Makes a value one of the type, where nothing is lost by it; lists and objects are never coerced (D4). */
export function coerce(value: Json, type: ParamType): Coerced {
  switch (type) {
    case 'string':
      return isScalarValue(value) ? { ok: true, value: String(value) } : { ok: false, expected: 'text' };
    case 'integer':
      return integerOf(value);
    case 'number':
      return numberOf(value);
    case 'boolean':
      return booleanOf(value);
    case 'list':
      return Array.isArray(value) ? { ok: true, value } : { ok: false, expected: 'a list' };
    case 'object':
      return isObject(value) ? { ok: true, value } : { ok: false, expected: 'an object' };
  }
}

function isScalarValue(value: Json): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(kindOf(value));
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function numberOf(value: Json): Coerced {
  const number = typeof value === 'string' && DECIMAL.test(value.trim()) ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return { ok: true, value: number };
  return { ok: false, expected: 'a number' };
}

/** A fraction is never made whole, and a number past the exact ones is not taken for another. */
function integerOf(value: Json): Coerced {
  const number = numberOf(value);
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

function booleanOf(value: Json): Coerced {
  if (typeof value === 'boolean') return { ok: true, value };
  const boolean = isScalarValue(value) ? BOOLEANS.get(String(value).trim().toLowerCase()) : undefined;
  return boolean === undefined ? { ok: false, expected: 'true or false' } : { ok: true, value: boolean };
}
