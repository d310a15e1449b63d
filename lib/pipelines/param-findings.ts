import { isParamType } from '../definition/coerce.js';
import { keywordCheck, resolveParam } from '../definition/params.js';
import type { ParamDefinition } from '../definition/schema.js';
import type { Finding } from '../definition/structure.js';
import { messageOf } from '../errors.js';
import { isObject, type Json } from '../json.js';

/** Are the declared parameters usable: keywords that are JSON Schema, defaults that fit (D4)? */
export function paramFindings(definition: unknown): Finding[] {
  const params = isObject(definition) ? definition['params'] : undefined;
  if (!isObject(params)) return [];
  return Object.entries(params).flatMap(([name, param]) => (isObject(param) ? findingsOf(name, param) : []));
}

function findingsOf(name: string, param: ParamDefinition): Finding[] {
  const path = ['params', name];
  try {
    keywordCheck(param);
  } catch (error) {
    return [{ code: 'invalid_param', message: `param "${name}": ${messageOf(error)}`, path }];
  }
  if (param.default === undefined || param.default === null) return [];
  // Nothing is of a type that does not exist, which is told already.
  if (!isParamType(param.type ?? 'string')) return [];
  const resolved = resolveParam(name, param, param.default as Json);
  if (resolved.ok) return [];
  return [
    { code: 'invalid_param', message: `the default of ${resolved.problem}`, path: [...path, 'default'] },
  ];
}
