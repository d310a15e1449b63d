import { PIPELINE_FIELDS } from '../definition/fields.js';
import type { Path } from '../definition/problem.js';
import type { Finding } from '../definition/structure.js';
import { isObject, kindOf } from '../json.js';

type Root =
  | {
      readonly ok: true;
      readonly definition: unknown;
      readonly path: Path;
      readonly findings: readonly Finding[];
    }
  | { readonly ok: false; readonly finding: Finding };

/** Finds the definition in what was given: `{pipeline: {...}}` or the bare object (D3). */
export function rootOf(value: unknown): Root {
  if (!isObject(value)) return refused('wrong_type', `a definition is a map, not ${kindOf(value)}`);
  if (Object.hasOwn(value, 'pipeline')) {
    const strangers = Object.keys(value).filter((key) => key !== 'pipeline');
    return { ok: true, definition: value['pipeline'], path: ['pipeline'], findings: strangers.map(stranger) };
  }
  if (Object.hasOwn(value, 'plan'))
    return refused('invalid_value', 'this is a plan, and this version runs pipelines only');
  if (PIPELINE_FIELDS.some((field) => Object.hasOwn(value, field))) {
    return { ok: true, definition: value, path: [], findings: [] };
  }
  return refused('missing_field', 'there is no pipeline in it', 'start with "pipeline:"');
}

/** Found beside the pipeline. */
function stranger(key: string): Finding {
  const hint = 'move it under "pipeline", or away';
  return {
    code: 'unknown_field',
    message: `"${key}" stands beside "pipeline"`,
    path: [key],
    hint,
    at: 'key',
  };
}

function refused(code: Finding['code'], message: string, hint?: string): Root {
  return { ok: false, finding: { code, message, path: [], ...(hint === undefined ? {} : { hint }) } };
}
