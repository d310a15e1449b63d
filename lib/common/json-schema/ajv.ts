import { createRequire } from 'node:module';
import type { Ajv2020, AnySchemaObject, Options, ValidateFunction } from 'ajv/dist/2020.js';
import { messageOf } from '../errors.js';
import { linearRegex } from './linear-regex.js';

// Loaded when the first schema is compiled: many runs need none, and a run must start fast.
const require = createRequire(import.meta.url);

/** One set of options for every schema: all errors are reported, and nothing is coerced but what came as text. */
const OPTIONS: Options = {
  strict: true,
  // Strictness is for misspelt keywords; these three refuse schemas that are merely terse.
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allErrors: true,
  ownProperties: true,
  // In JSON Schema 2020-12 a format is a remark, not a check.
  validateFormats: false,
  logger: false,
};

/** Patterns come from callers, so they run in linear time. */
const regExp = Object.assign((pattern: string) => linearRegex(pattern), { code: 'linearRegex' });

export interface CompileOptions {
  /** The validator writes the schema's defaults into what it validates: give it a copy. Default false. */
  readonly useDefaults?: boolean;
  /** What is validated came as text, as queries do: the validator writes numbers and booleans in its place. */
  readonly isText?: boolean;
  /** Its patterns are ours, and known to be harmless: they are matched by the built-in regular expressions. */
  readonly isOurs?: boolean;
}

/** A compiler remembers something of every schema, for all its life: that must be short. */
const MOST_COMPILED = 200;

interface Compiler {
  readonly ajv: Ajv2020;
  compiled: number;
}

const compilers = new Map<string, Compiler>();
let checker: Ajv2020 | undefined;

/**
 * Compiles a JSON Schema (2020-12).
 *
 * @throws Error that says what is wrong with the schema.
 */
export function compileSchema(schema: AnySchemaObject, options: CompileOptions = {}): ValidateFunction {
  const ajv = compilerFor(schema, options);
  const validate = ajv.compile(schema);
  // Without this every schema would be kept for ever.
  ajv.removeSchema(schema);
  return validate;
}

/** What is wrong with a JSON Schema (2020-12); undefined when it is sound. Thorough, and slower than compiling it. */
export function schemaError(schema: AnySchemaObject): string | undefined {
  try {
    checker ??= newAjv({ ...OPTIONS, allErrors: false });
    if (checker.validateSchema(schema) !== true) {
      return checker.errorsText(checker.errors, { dataVar: 'schema' });
    }
    compileSchema(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function compilerFor(schema: AnySchemaObject, options: CompileOptions): Ajv2020 {
  // Names given inside a schema would stay known, and meet those of the next schema.
  if (JSON.stringify(schema).includes('"$')) return newCompiler(options);
  const name = JSON.stringify(options);
  let compiler = compilers.get(name);
  if (compiler === undefined || compiler.compiled === MOST_COMPILED) {
    compiler = { ajv: newCompiler(options), compiled: 0 };
    compilers.set(name, compiler);
  }
  compiler.compiled++;
  return compiler.ajv;
}

/** Compiling refuses most of what the meta-schema would, and does without the 20 ms that compiling it takes. */
function newCompiler({ useDefaults = false, isText = false, isOurs = false }: CompileOptions): Ajv2020 {
  return newAjv({
    ...OPTIONS,
    useDefaults,
    coerceTypes: isText,
    meta: false,
    validateSchema: false,
    ...(!isOurs && { code: { regExp } }),
  });
}

function newAjv(options: Options): Ajv2020 {
  const ajv: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  return new ajv.Ajv2020(options);
}
