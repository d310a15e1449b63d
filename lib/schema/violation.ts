import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { isObject, type Json } from '../json.js';

/** One way in which a value is not what its schema asks for. */
export interface Violation {
  /** Where in the value: keys and indexes; empty for the whole of it. */
  readonly path: readonly (string | number)[];
  /** The word of JSON Schema that is not satisfied. */
  readonly keyword: string;
  /** What the keyword asks for: the type, the bound, the missing or unknown name. */
  readonly wanted: Json | undefined;
  /** What stands there. */
  readonly value: unknown;
  /** A last resort, for keywords that have no sentence here. */
  readonly message?: string;
  /** It follows from one branch of several (`anyOf`, `if`, …). */
  readonly branch?: boolean;
}

/** How the compiler names what a keyword asks for. */
const WANTED = ['missingProperty', 'additionalProperty', 'type', 'allowedValues', 'limit', 'pattern'];

/** What the last call of a validator found; the validator forgets it, for it would hold on to the value. */
export function violationsOf(validate: ValidateFunction, value: unknown): Violation[] {
  const violations = (validate.errors ?? []).map((error) => violationOf(error, value));
  validate.errors = null;
  return violations;
}

function violationOf(error: ErrorObject, root: unknown): Violation {
  const { path, value } = placeOf(error.instancePath, root);
  return {
    path,
    keyword: error.keyword,
    wanted: wantedOf(error),
    value,
    ...(error.message !== undefined && { message: error.message }),
    branch: /\/(anyOf|oneOf|not|if|then|else|contains)(\/|$)/.test(error.schemaPath),
  };
}

function wantedOf(error: ErrorObject): Json | undefined {
  const params: Record<string, Json> = error.params;
  return WANTED.map((name) => params[name]).find((wanted) => wanted !== undefined);
}

/** What a JSON pointer points at. */
function placeOf(pointer: string, root: unknown): { path: Violation['path']; value: unknown } {
  const path: (string | number)[] = [];
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(key) : key);
    value = Array.isArray(value) ? value[Number(key)] : isObject(value) ? value[key] : undefined;
  }
  return { path, value };
}
