import { type CheckBudget, TOO_MANY_STEPS } from '../../common/json-schema/check-budget.js';
import {
  ALLOWED_KEYWORDS,
  REFUSED_KEYWORDS,
  type SchemaError,
  SchemaReview,
} from '../../common/json-schema/keywords.js';
import { formatValuePath } from '../../common/json-schema/violation.js';
import { isObject, type Json } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { formatNumber } from '../../common/text.js';
import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { didYouMean } from '../../definition/problems/hint.js';
import { isParamType, resolveParamInSteps, schemaKeywords } from '../../definition/params.js';
import type { ParamDefinition } from '../../definition/schema/schema.js';
import { nearest } from '../../definition/did-you-mean.js';

/** Checks that the schemas of declared params have allowed keywords only, and that defaults match them (D4). */
export function* checkParamDefinitions(definition: unknown, budget: CheckBudget): Findings {
  const declared = isObject(definition) ? definition['params'] : undefined;
  if (!isObject(declared)) return;
  const params = Object.entries(declared).filter(isDeclaration);
  const review = new SchemaReview(budget, MAX_SCHEMAS);
  for (const [name, param] of params) {
    reviewParam(name, param, review);
    yield;
  }
  if (review.hasTooManySchemas) yield TOO_MANY;
  else if (review.errors.length > 0) yield* review.errors.map(toDiagnostic);
  else {
    const usable = new WeakSet<object>();
    for (const [name, param] of params) {
      if (budget.isExceeded) return yield TOO_MUCH_WORK;
      yield yield* checkDefault(name, param, budget, usable);
    }
  }
}

function isDeclaration(entry: [string, unknown]): entry is [string, ParamDefinition] {
  return isObject(entry[1]);
}

/** More schemas are no checks of params; all are compiled for every run. */
const MAX_SCHEMAS = 1000;

const TOO_MANY: Diagnostic = {
  code: 'too_large',
  message: `the params contain more than ${formatNumber(MAX_SCHEMAS)} schemas`,
  path: ['params'],
  hint: 'use items and properties in fewer of them, or with fewer schemas inside',
};

const TOO_MUCH_WORK: Diagnostic = {
  code: 'invalid_param',
  message: `the params ${TOO_MANY_STEPS}`,
  path: ['params'],
};

/** The keywords beside `type` are those of JSON Schema; the schema of definitions reports all other fields. */
function reviewParam(name: string, param: ParamDefinition, review: SchemaReview): void {
  const keywords = schemaKeywords(param);
  if (keywords.length > 0) review.visitKeywords(param, keywords, [name]);
}

function toDiagnostic({ path: [name, ...path], unknownKeyword, message }: SchemaError): Diagnostic {
  const code = 'invalid_param';
  const fullPath = ['params', name ?? '', ...path];
  if (unknownKeyword === undefined) {
    return { code, message: `param "${name}": "${formatValuePath(path)}" ${message}`, path: fullPath };
  }
  const meant = REFUSED_KEYWORDS.has(unknownKeyword) ? undefined : nearest(unknownKeyword, ALLOWED_KEYWORDS);
  const allowed = `the schemas of params may have ${ALLOWED_KEYWORDS.join(', ')}`;
  const [keyword, place] = [formatValuePath([unknownKeyword]), formatValuePath(path.slice(0, -1))];
  const problem = `param "${name}": the keyword "${keyword}" is not allowed in "${place}"`;
  const hint = meant === undefined ? allowed : didYouMean(meant);
  return { code, message: problem, path: fullPath, at: 'key', hint };
}

function* checkDefault(
  name: string,
  param: ParamDefinition,
  budget: CheckBudget,
  usable: WeakSet<object>,
): Steps<Diagnostic | undefined> {
  if (param.default === undefined || param.default === null) return undefined;
  // The schema of definitions reports an unknown type.
  if (!isParamType(param.type ?? 'string')) return undefined;
  const resolved = yield* resolveParamInSteps(name, param, param.default as Json, budget, usable);
  if (resolved.ok) return undefined;
  const path = ['params', name, 'default'];
  return { code: 'invalid_param', message: `the default of ${resolved.problem}`, path };
}
