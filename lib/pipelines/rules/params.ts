import { messageOf } from '../../common/errors.js';
import { isObject, type Json } from '../../common/json.js';
import { isParamType, keywordCheck, keywordsOf, resolveParam } from '../../definition/params.js';
import type { ParamDefinition } from '../../definition/schema/schema.js';
import type { Finding } from '../../definition/schema/structure.js';

/** Are the declared parameters usable: keywords that are JSON Schema, defaults that fit (D4)? */
export function paramFindings(definition: unknown): Finding[] {
  const params = isObject(definition) ? definition['params'] : undefined;
  if (!isObject(params)) return [];
  if (schemasIn(params) > MOST_SCHEMAS) return [TOO_MANY];
  return Object.entries(params).flatMap(([name, param]) => (isObject(param) ? findingsOf(name, param) : []));
}

/** Each is compiled before a run, and that takes far longer than to send it. */
const MOST_SCHEMAS = 1000;

const TOO_MANY: Finding = {
  code: 'too_large',
  message: `the params hold more than ${MOST_SCHEMAS.toLocaleString('en')} schemas`,
  path: ['params'],
  hint: 'give fewer of them enum, minimum, maximum, pattern, items or properties',
};

/** Everything that may be one, wherever it stands in the keywords. */
function schemasIn(params: Record<string, unknown>): number {
  const open: unknown[] = Object.values(params).map((param) => (isObject(param) ? keywordValues(param) : []));
  let count = 0;
  for (const value of open) {
    if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) continue;
    if (++count > MOST_SCHEMAS) break;
    for (const member of Object.values(value)) open.push(member);
  }
  return count;
}

function keywordValues(param: ParamDefinition): unknown[] {
  return keywordsOf(param).map((keyword) => param[keyword]);
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
