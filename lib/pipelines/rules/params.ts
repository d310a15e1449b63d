import { errorMessage } from '../../common/errors.js';
import { isObject, type Json } from '../../common/json.js';
import type { Diagnostic } from '../../definition/diagnostic.js';
import { compileKeywords, isParamType, resolveParam, schemaKeywords } from '../../definition/params.js';
import type { ParamDefinition } from '../../definition/schema/schema.js';

/** Checks that the keywords of declared params are JSON Schema, and that defaults match them (D4). */
export function checkParamDefinitions(definition: unknown): Diagnostic[] {
  const params = isObject(definition) ? definition['params'] : undefined;
  if (!isObject(params)) return [];
  if (countSchemas(params) > MAX_SCHEMAS) return [TOO_MANY];
  return Object.entries(params).flatMap(([name, param]) => (isObject(param) ? checkParam(name, param) : []));
}

/** All schemas are compiled before a run, and compiling one takes far longer than sending it. */
const MAX_SCHEMAS = 1000;

const TOO_MANY: Diagnostic = {
  code: 'too_large',
  message: `the params contain more than ${MAX_SCHEMAS.toLocaleString('en')} schemas`,
  path: ['params'],
  hint: 'use enum, minimum, maximum, pattern, items and properties in fewer of them',
};

/** Counts everything in the keywords that may be a schema, at any depth. */
function countSchemas(params: Record<string, unknown>): number {
  const pending: unknown[] = Object.values(params).map((param) =>
    isObject(param) ? keywordValues(param) : [],
  );
  let count = 0;
  for (const value of pending) {
    if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) continue;
    if (++count > MAX_SCHEMAS) break;
    for (const member of Object.values(value)) pending.push(member);
  }
  return count;
}

function keywordValues(param: ParamDefinition): unknown[] {
  return schemaKeywords(param).map((keyword) => param[keyword]);
}

function checkParam(name: string, param: ParamDefinition): Diagnostic[] {
  const path = ['params', name];
  try {
    compileKeywords(name, param);
  } catch (error) {
    return [{ code: 'invalid_param', message: `param "${name}": ${errorMessage(error)}`, path }];
  }
  if (param.default === undefined || param.default === null) return [];
  // The schema reports an unknown type.
  if (!isParamType(param.type ?? 'string')) return [];
  const resolved = resolveParam(name, param, param.default as Json);
  if (resolved.ok) return [];
  return [
    { code: 'invalid_param', message: `the default of ${resolved.problem}`, path: [...path, 'default'] },
  ];
}
