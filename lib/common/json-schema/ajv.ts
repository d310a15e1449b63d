import { createRequire } from 'node:module';
import type { Ajv2020, AnySchemaObject, ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js';
import { errorMessage } from '../errors.js';
import { linearRegex } from './bounded-pattern.js';
import { MAX_MEMBERS_FOR_ALL_ERRORS } from './violation.js';

// ajv is loaded with the first schema: most runs need none, and a run must start fast.
const require = createRequire(import.meta.url);

const OPTIONS: Options = {
  strict: true,
  // Strict mode is for misspelt keywords; these three options would reject terse schemas.
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  ownProperties: true,
  // In JSON Schema 2020-12 a format is an annotation, not an assertion.
  validateFormats: false,
  logger: false,
};

/** Matches patterns of callers in linear time. */
const regExp = Object.assign((pattern: string) => linearRegex(pattern), { code: 'linearRegex' });

export interface CompileOptions {
  /** Lets the validator write the schema's defaults into the validated value. Default false. */
  readonly useDefaults?: boolean;
  /** Lets the validator replace strings by numbers and booleans, as a query string needs. */
  readonly coerceText?: boolean;
  /** Uses built-in regular expressions, for our own schemas, whose patterns are harmless. */
  readonly isTrusted?: boolean;
}

/** Validates a value; after an invalid one, `errors` says why. */
export interface Validator {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null | undefined;
}

/** Number of schemas after which a compiler is replaced, because it retains memory of each. */
const MAX_COMPILED = 200;

interface Compiler {
  readonly ajv: Ajv2020;
  compiled: number;
}

const compilers = new Map<string, Compiler>();
let checker: Ajv2020 | undefined;

/**
 * Compiles a JSON Schema (2020-12) to a validator that reports all errors of a value, or the first one of a large value.
 *
 * @throws Error that describes the invalid part of the schema
 */
export function compileSchema(schema: AnySchemaObject, options: CompileOptions = {}): Validator {
  const isValid = compile(schema, options, false);
  let findAll: ValidateFunction | undefined;
  const validate: Validator = (value) => {
    validate.errors = null;
    if (isValid(value)) return true;
    let invalid = isValid;
    if (!hasMoreMembers(value, MAX_MEMBERS_FOR_ALL_ERRORS)) {
      findAll ??= compile(schema, options, true);
      findAll(value);
      invalid = findAll;
    }
    validate.errors = invalid.errors ?? null;
    // Errors retain the value.
    isValid.errors = null;
    invalid.errors = null;
    return false;
  };
  return validate;
}

function compile(schema: AnySchemaObject, options: CompileOptions, allErrors: boolean): ValidateFunction {
  const ajv = selectCompiler(schema, { ...options, allErrors });
  const validate = ajv.compile(schema);
  // Otherwise ajv retains the schema for ever.
  ajv.removeSchema(schema);
  return validate;
}

function hasMoreMembers(value: unknown, most: number): boolean {
  const pending: unknown[] = [value];
  let members = 0;
  for (const next of pending) {
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next) && next.length > most) return true;
    for (const key in next) {
      if (++members > most) return true;
      pending.push((next as Readonly<Record<string, unknown>>)[key]);
    }
  }
  return false;
}

/** Describes the error in a JSON Schema (2020-12); undefined when it is valid. Slower than compiling it. */
export function findSchemaError(schema: AnySchemaObject): string | undefined {
  try {
    checker ??= createAjv(OPTIONS);
    if (checker.validateSchema(schema) !== true) {
      return checker.errorsText(checker.errors, { dataVar: 'schema' });
    }
    compile(schema, {}, false);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

interface CompilerOptions extends CompileOptions {
  /** True when validators go on after the first error. */
  readonly allErrors: boolean;
}

function selectCompiler(schema: AnySchemaObject, options: CompilerOptions): Ajv2020 {
  // A compiler keeps the $ids and $anchors of a schema, which could collide with those of the next.
  if (JSON.stringify(schema).includes('"$')) return createCompiler(options);
  const name = JSON.stringify(options);
  let compiler = compilers.get(name);
  if (compiler === undefined || compiler.compiled === MAX_COMPILED) {
    compiler = { ajv: createCompiler(options), compiled: 0 };
    compilers.set(name, compiler);
  }
  compiler.compiled++;
  return compiler.ajv;
}

/** Omits the meta-schema, which takes 20 ms to compile: compiling a schema detects most of the same errors. */
function createCompiler({
  useDefaults = false,
  coerceText = false,
  isTrusted = false,
  allErrors,
}: CompilerOptions): Ajv2020 {
  return createAjv({
    ...OPTIONS,
    allErrors,
    useDefaults,
    coerceTypes: coerceText,
    meta: false,
    validateSchema: false,
    ...(!isTrusted && { code: { regExp } }),
  });
}

function createAjv(options: Options): Ajv2020 {
  const ajv: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  return new ajv.Ajv2020(options);
}
