import { ToolError } from '../../common/errors.js';
import { isObject, type Json, type JsonObject } from '../../common/json.js';
import { EXPRESSION_LIMITS, type ExpressionLimits } from '../../common/limits.js';
import { formatMebibytes } from '../../common/text.js';
import { type Evaluation, Sandbox } from './sandbox.js';

/** Evaluates JSONata expressions in this process. Blocks the event loop, at most for the time in its limits. */
export class Evaluator {
  readonly #limits: ExpressionLimits;
  #sandbox: Sandbox | undefined;

  constructor(limits: ExpressionLimits = EXPRESSION_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Returns the result; null when the expression matches nothing. The data is neither changed nor shared.
   *
   * @throws ToolError, not retryable, with JSONata's message and the position
   */
  evaluate(source: string, input: Json, bindings: JsonObject): Json {
    const result: Json = JSON.parse(this.evaluateToText(source, input, bindings));
    return result;
  }

  /** Evaluates like `evaluate`, but returns the result as JSON text, for another process. */
  evaluateToText(source: string, input: Json, bindings: JsonObject): string {
    const evaluation: Evaluation = { source, input, bindings, replacer: createResultGuard(this.#limits) };
    try {
      this.#sandbox ??= new Sandbox(this.#limits);
      this.#sandbox.run(evaluation);
    } catch (error) {
      this.#sandbox = undefined;
      evaluation.error = error;
    }
    if (evaluation.error !== undefined) throw toToolError(evaluation.error, this.#limits);
    return evaluation.text ?? 'null';
  }
}

/** Creates a replacer that rejects values that JSON cannot hold, and results that repeat a small value too often. */
function createResultGuard({ resultBytes }: ExpressionLimits): Evaluation['replacer'] {
  let size = 0;
  return (key, value) => {
    if (isFunction(value))
      throw badResult(key === '' ? 'is a function, not a value' : `contains a function at "${key}"`);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw badResult(`contains ${value}, which JSON cannot represent`);
    }
    size += key.length + (typeof value === 'string' ? value.length : 4);
    if (size > resultBytes) throw badResult(`is larger than the limit of ${formatMebibytes(resultBytes)}`);
    return value;
  };
}

function badResult(what: string): ToolError {
  return ToolError.nonRetryable(`the result of the expression ${what}`);
}

/** JSONata marks its own functions with these properties. */
function isFunction(value: unknown): boolean {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null) return false;
  return '_jsonata_lambda' in value || '_jsonata_function' in value;
}

function toToolError(error: unknown, limits: ExpressionLimits): ToolError {
  if (error instanceof ToolError) return error;
  const details = isObject(error) ? error : {};
  const position = typeof details['position'] === 'number' ? ` (at character ${details['position']})` : '';
  const reason = describeReason(details['code'], details['message'], limits);
  return ToolError.nonRetryable(`the expression failed: ${reason}${position}`, error);
}

function describeReason(code: unknown, message: unknown, { timeoutMs }: ExpressionLimits): string {
  switch (code) {
    case 'ERR_SCRIPT_EXECUTION_TIMEOUT':
    case 'D1012':
      return `it ran for more than ${timeoutMs / 1000} s`;
    case 'D1011':
      return 'it is nested too deeply; check for endless recursion';
    default:
      return typeof message === 'string' && message !== '' ? message : 'it could not be evaluated';
  }
}
