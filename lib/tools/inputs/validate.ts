import { joinFirst } from '../../common/text.js';
import { ToolError } from '../../common/errors.js';
import { describeViolations, type Nouns, type Violation } from '../../common/json-schema/violation.js';
import { type JsonObject, toJsonPointer } from '../../common/json/json.js';
import type { Tool, ToolContext } from '../tool.js';
import { areFlat, createFlatValidator } from './flat-validator.js';
import {
  createBoundedValidator,
  createSchemaValidator,
  type InputValidator,
  type ValidationResult,
} from './schema-validator.js';

type ValidatedInputs =
  | { readonly ok: true; readonly inputs: JsonObject }
  | { readonly ok: false; readonly errors: string[] };

export const INPUT_NOUNS: Nouns = { one: 'input', all: 'inputs' };

/**
 * Validates the resolved inputs of one invocation against the declarations of its tool, and fills in defaults (D48).
 * Does not change `inputs`; the returned inputs may share values with them.
 *
 * @param mask replaces secrets in the values that errors quote (D61)
 * @throws WavetrainError `bad_tool_file` when the declarations are not a valid JSON Schema
 */
export function validateInputs(
  tool: Tool,
  inputs: JsonObject,
  mask?: (value: unknown) => unknown,
): ValidatedInputs {
  const { inputs: complete, violations } = applyDeclarations(tool, inputs);
  if (violations.length === 0) return { ok: true, inputs: complete };
  const shown = mask ? violations.map((found) => ({ ...found, value: mask(found.value) })) : violations;
  return { ok: false, errors: describeViolations(shown, INPUT_NOUNS) };
}

const MAX_LISTED = 20;

/**
 * Checks the inputs of the function or source that a task names, fills in their defaults and calls it. Returns what it
 * returns, perhaps a promise.
 *
 * @throws ToolError, not retryable, that lists the names that there are, or the invalid inputs
 */
export function callRegistered(
  noun: 'function' | 'source',
  entries: ReadonlyMap<string, Tool> = new Map(),
  name: string,
  inputs: JsonObject,
  context: ToolContext,
): unknown {
  const called = entries.get(name);
  if (called === undefined) {
    const names = joinFirst([...entries.keys()].sort(), MAX_LISTED);
    throw ToolError.nonRetryable(`there is no ${noun} "${name}"; the ${noun}s are ${names}`);
  }
  const validated = validateInputs(called, inputs);
  if (validated.ok) return called.run(validated.inputs, context);
  throw ToolError.nonRetryable(`${noun} "${name}": ${validated.errors.join('; ')}`);
}

const validators = new WeakMap<Tool, InputValidator>();

/**
 * Fills in defaults and finds the violations: all of them, or the first one of large inputs. Uses the fastest validator
 * that agrees with the JSON Schema. Does not change `inputs`.
 *
 * @throws WavetrainError `bad_tool_file` when the declarations are not a valid JSON Schema
 */
export function applyDeclarations(tool: Tool, inputs: JsonObject): ValidationResult {
  const result = selectValidator(tool)(inputs);
  if (result.violations.length === 0) return result;
  return { ...result, violations: withoutConsequences(result.violations) };
}

function selectValidator(tool: Tool): InputValidator {
  const existing = validators.get(tool);
  if (existing !== undefined) return existing;
  const validator = createValidator(tool);
  validators.set(tool, validator);
  return validator;
}

function createValidator(tool: Tool): InputValidator {
  if (tool.inputSchema !== undefined) return createBoundedValidator(tool.inputSchema);
  return areFlat(tool.inputs) ? createFlatValidator(tool) : createSchemaValidator(tool);
}

/** Drops the violations that follow from a wrong type: they would not help. */
function withoutConsequences(violations: readonly Violation[]): Violation[] {
  const mistyped = new Set(violations.filter(isMistyped).map(({ path }) => toJsonPointer(path)));
  return violations.filter(
    (violation) => isMistyped(violation) || !mistyped.has(toJsonPointer(violation.path)),
  );
}

function isMistyped({ keyword }: Violation): boolean {
  return keyword === 'type';
}
