import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import {
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
  subtractJsonLength,
  TOO_DEEP,
} from '../../common/json.js';
import { EXPRESSION_LIMITS, type ExpressionLimits } from '../../common/limits.js';
import { formatMebibytes } from '../../common/text.js';
import { Sandbox, type SandboxResult } from './sandbox.js';

/** Evaluates JSONata expressions in this process. Blocks the event loop, at most for the time in its limits. */
export class Evaluator {
  readonly #limits: ExpressionLimits;
  #sandbox: Sandbox | undefined;
  #runId: string | undefined;

  constructor(limits: ExpressionLimits = EXPRESSION_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Returns the result; null when the expression matches nothing. The data is neither changed nor shared. Another run's
   * expression is evaluated in a new sandbox, so that runs cannot affect each other.
   *
   * @throws ToolError, not retryable, with JSONata's message and the position
   */
  evaluate(source: string, input: Json, bindings: JsonObject, runId: string): Json {
    const result: Json = JSON.parse(this.evaluateText(source, toExpressionData(input, bindings), runId));
    return result;
  }

  /** Evaluates like `evaluate`, but from and to JSON text, for another process. */
  evaluateText(source: string, data: string, runId: string): string {
    if (runId !== this.#runId) this.#sandbox = undefined;
    this.#runId = runId;
    this.#sandbox ??= new Sandbox(this.#limits);
    const evaluation = this.#run(this.#sandbox, source, data);
    if ('result' in evaluation) return evaluation.result;
    throw toToolError(evaluation.failure, this.#limits);
  }

  #run(sandbox: Sandbox, source: string, data: string): SandboxResult {
    try {
      return sandbox.run(source, data);
    } catch (error) {
      this.#sandbox = undefined;
      return { failure: JSON.stringify({ code: errorCode(error), message: errorMessage(error) }) };
    }
  }
}

/**
 * Returns the data of an expression as JSON text.
 *
 * @param maxLength of the text, in characters, escapes not counted; checked before any of it is made
 * @throws ToolError, not retryable, when it is longer, or nested too deeply
 */
export function toExpressionData(
  input: Json,
  bindings: JsonObject,
  maxLength = Number.POSITIVE_INFINITY,
): string {
  if (maxLength < Number.POSITIVE_INFINITY) assertLength([input, bindings], maxLength);
  try {
    return JSON.stringify({ input, bindings });
  } catch (error) {
    throw failedExpression(errorMessage(error));
  }
}

function assertLength(values: Json[], maxLength: number): void {
  const left = subtractJsonLength(maxLength, values);
  if (left === TOO_DEEP) throw failedExpression(`its data is nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (left >= 0) return;
  const limit = formatMebibytes(maxLength);
  throw failedExpression(`its input and bindings are longer than ${limit} as JSON: pass only what it reads`);
}

/** Creates the error of an expression that cannot be evaluated. */
export function failedExpression(reason: string): ToolError {
  return ToolError.nonRetryable(`the expression failed: ${reason}`);
}

interface Failure {
  readonly code?: string;
  readonly message?: string;
  readonly position?: number;
}

function toToolError(text: string, limits: ExpressionLimits): ToolError {
  const { code, message, position }: Failure = JSON.parse(text);
  if (code === 'bad_result') return ToolError.nonRetryable(message ?? '');
  const at = position === undefined ? '' : ` (at character ${position})`;
  return failedExpression(`${describeReason(code, message, limits)}${at}`);
}

function describeReason(
  code: string | undefined,
  message: string | undefined,
  { timeoutMs }: ExpressionLimits,
): string {
  switch (code) {
    case 'ERR_SCRIPT_EXECUTION_TIMEOUT':
    case 'D1012':
      return `it ran for more than ${timeoutMs / 1000} s`;
    case 'D1011':
      return 'it is nested too deeply; check for endless recursion';
    default:
      return message === undefined || message === '' ? 'it could not be evaluated' : message;
  }
}
