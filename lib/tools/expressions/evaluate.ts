import { ToolError } from '../../common/errors.js';
import { isObject, type Json, type JsonObject } from '../../common/json.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';
import { type Evaluation, Sandbox } from './sandbox.js';

let sandbox: Sandbox | undefined;

/**
 * Evaluates a JSONata expression; what it does not find is null. Data is neither changed nor shared.
 *
 * It holds the event loop until it is done, and never longer than {@link EXPRESSION_LIMITS} say.
 *
 * @throws ToolError, not retryable, with JSONata's words and the position
 */
export function evaluate(source: string, input: Json, bindings: JsonObject): Json {
  const result: Json = JSON.parse(evaluateToText(source, input, bindings));
  return result;
}

/** The same, with the result as JSON text: to be read elsewhere. */
export function evaluateToText(source: string, input: Json, bindings: JsonObject): string {
  const evaluation: Evaluation = { source, input, bindings, replacer: resultGuard() };
  try {
    sandbox ??= new Sandbox();
    sandbox.run(evaluation);
  } catch (error) {
    sandbox = undefined;
    evaluation.error = error;
  }
  if (evaluation.error !== undefined) throw failureOf(evaluation.error);
  return evaluation.text ?? 'null';
}

/** Lets pass what JSON can hold, and not too much of it: a small value may contain itself a million times over. */
function resultGuard(): Evaluation['replacer'] {
  let size = 0;
  return (key, value) => {
    if (isFunction(value))
      throw badResult(`${key === '' ? '' : `holds, as "${key}", what `}is a function, not a value`);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw badResult(`holds ${value}, which JSON has no number for`);
    }
    size += key.length + (typeof value === 'string' ? value.length : 4);
    if (size > EXPRESSION_LIMITS.resultBytes) {
      throw badResult(`is larger than the limit of ${EXPRESSION_LIMITS.resultBytes / 2 ** 20} MiB`);
    }
    return value;
  };
}

function badResult(what: string): ToolError {
  return new ToolError(`the result of the expression ${what}`, { retryable: false });
}

/** JSONata's own functions are objects with a mark. */
function isFunction(value: unknown): boolean {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null) return false;
  return '_jsonata_lambda' in value || '_jsonata_function' in value;
}

function failureOf(error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  const details = isObject(error) ? error : {};
  const place = typeof details['position'] === 'number' ? ` (at character ${details['position']})` : '';
  const reason = reasonOf(details['code'], details['message']);
  return new ToolError(`the expression failed: ${reason}${place}`, { retryable: false, cause: error });
}

function reasonOf(code: unknown, message: unknown): string {
  switch (code) {
    case 'ERR_SCRIPT_EXECUTION_TIMEOUT':
    case 'D1012':
      return `it ran for more than ${EXPRESSION_LIMITS.timeoutMs / 1000} s`;
    case 'D1011':
      return 'it is nested too deeply. Check for endless recursion';
    default:
      return typeof message === 'string' && message !== '' ? message : 'it could not be evaluated';
  }
}
