import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { type Json, type JsonObject, MAX_JSON_DEPTH } from '../../common/json/json.js';
import { isShortJson, JsonWriter } from '../../common/json/json-writer.js';
import { EXPRESSION_LIMITS, type ExpressionLimits } from '../../common/limits.js';
import { formatMebibytes } from '../../common/text.js';
import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
import type { ToolContext } from '../tool.js';
import { type Bindings, checkNames, type ExpressionProblem } from './check-names.js';
import { drawPlace } from './place.js';
import { Sandbox, type SandboxResult } from './sandbox.js';

/** Expressions beyond either limit are parsed only when they are evaluated: it may take more than some milliseconds. */
const MAX_PARSED_LENGTH = 10_000;
/** JSONata takes quadratic time to parse a path. */
const MAX_PARSED_STEPS = 500;
/** JSONata copies what stands before `??` and `?:`, and so the innermost part of ten 1,000 times. */
const MAX_PARSED_COPIES = 100_000;
/** Ends what takes longer all the same. */
const MAX_PARSING_MS = 2000;

/** Evaluates JSONata expressions in this process. Blocks the event loop, at most for the time in its limits. */
export class Evaluator {
  readonly #limits: ExpressionLimits;
  #sandbox: Sandbox | undefined;
  /** For the next run: no expression of a caller has been evaluated in it. */
  #unused: Sandbox | undefined;
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
    const data = runToEnd(toExpressionDataInSteps(input, bindings)).join('');
    const result: Json = JSON.parse(this.evaluateText(source, data, runId));
    return result;
  }

  /**
   * Finds what is wrong with an expression before any value is known: a syntax error, or else calls and variables that cannot
   * work. Finds nothing in an expression that is much longer than most.
   *
   * @param bindings the variables that the expression is given; `unknown` for those of a template, and `any` for an
   * expression that somebody else evaluates, of which only the syntax is checked
   */
  findProblems(source: string, bindings: Bindings): ExpressionProblem[] {
    const parsed = this.#parse(source);
    if (parsed === undefined) return [];
    if ('result' in parsed) return bindings === 'any' ? [] : checkNames(JSON.parse(parsed.result), bindings);
    const { position }: Failure = JSON.parse(parsed.failure);
    const message = `is not a JSONata expression: ${describeFailure(parsed.failure, source, this.#limits)}`;
    return [{ message, at: Math.max(0, Math.min(position ?? 1, source.trimEnd().length) - 1) }];
  }

  #parse(source: string): SandboxResult | undefined {
    const steps = source.match(/[.%?@]/g)?.length ?? 0;
    const doublings = source.match(/\?[?:]/g)?.length ?? 0;
    if (source.length > MAX_PARSED_LENGTH || steps > MAX_PARSED_STEPS) return undefined;
    if (source.length * 2 ** doublings > MAX_PARSED_COPIES) return undefined;
    try {
      // Parsing evaluates nothing, so the sandbox is still unused.
      return (this.#unused ??= new Sandbox(this.#limits)).parse(source, MAX_PARSING_MS);
    } catch {
      this.#unused = undefined;
      return undefined;
    }
  }

  /** Creates the sandbox of the next run ahead, which takes some milliseconds. */
  prepareNextRun(): void {
    if (this.#unused !== undefined) return;
    const sandbox = new Sandbox(this.#limits);
    // The first evaluation takes longer than others: functions are compiled when they are first called.
    sandbox.run('1', '{}');
    this.#unused = sandbox;
  }

  /** Evaluates like `evaluate`, but from and to JSON text, for another process. */
  evaluateText(source: string, data: string, runId: string): string {
    if (runId !== this.#runId) this.#sandbox = undefined;
    this.#runId = runId;
    this.#sandbox ??= this.#takeSandbox();
    const evaluation = this.#run(this.#sandbox, source, data);
    if ('result' in evaluation) return evaluation.result;
    throw toToolError(evaluation.failure, source, this.#limits);
  }

  #takeSandbox(): Sandbox {
    const sandbox = this.#unused ?? new Sandbox(this.#limits);
    this.#unused = undefined;
    return sandbox;
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

/** For a process that runs one pipeline at a time, and for parsing: whatever is parsed has no effect on what is evaluated. */
export const localEvaluator = new Evaluator();

/** Evaluates a JSONata expression for a tool, in this process or in another. Fails with a ToolError, not retryable. */
export type EvaluateExpression = (
  source: string,
  input: Json,
  bindings: JsonObject,
  context: ToolContext,
) => Json | Promise<Json>;

/** Evaluates in this process, for all tools that take expressions. */
export const evaluateHere: EvaluateExpression = (source, input, bindings, { run_id: runId }) =>
  localEvaluator.evaluate(source, input, bindings, runId);

/**
 * Returns the data of an expression as JSON, in steps and in pieces.
 *
 * @throws ToolError, not retryable, when it is longer, or nested too deeply
 */
export function* toExpressionDataInSteps(
  input: Json,
  bindings: JsonObject,
  maxLength = Number.POSITIVE_INFINITY,
): Steps<readonly string[]> {
  const values = { input, bindings };
  if (isShortJson(values)) return [JSON.stringify(values)];
  yield;
  const writer = new JsonWriter(values);
  const data: string[] = [];
  let length = 0;
  for (let chunk = writer.next(); chunk !== ''; chunk = writer.next()) {
    data.push(chunk);
    length += chunk.length;
    if (length > maxLength) {
      const limit = formatMebibytes(maxLength);
      throw failedExpression(
        `its input and bindings are longer than ${limit} as JSON: pass only what it reads`,
      );
    }
    if (writer.depth > MAX_JSON_DEPTH)
      throw failedExpression(`its data is nested deeper than ${MAX_JSON_DEPTH} levels`);
    yield;
  }
  return data;
}

export function failedExpression(reason: string): ToolError {
  return ToolError.nonRetryable(`the expression failed: ${reason}`);
}

interface Failure {
  readonly code?: string;
  readonly message?: string;
  readonly position?: number;
}

function toToolError(text: string, source: string, limits: ExpressionLimits): ToolError {
  const { code, message }: Failure = JSON.parse(text);
  if (code === 'bad_result') return ToolError.nonRetryable(message ?? '');
  return failedExpression(describeWithPlace(text, source, limits));
}

function describeFailure(text: string, source: string, limits: ExpressionLimits): string {
  const { code, message, position }: Failure = JSON.parse(text);
  const at = position === undefined ? '' : ` (at ${describePosition(position, source)})`;
  return `${describeReason(code, message, limits)}${at}`;
}

/** Shows where an evaluation has failed: below the message, the line of the expression, and carets under the place. */
function describeWithPlace(text: string, source: string, limits: ExpressionLimits): string {
  const { position }: Failure = JSON.parse(text);
  const frame = position === undefined ? [] : drawPlace(source, position);
  return [describeFailure(text, source, limits), ...frame].join('\n');
}

/** @param position number of the last character that was read, from 1 */
function describePosition(position: number, source: string): string {
  const lines = source.trimEnd().slice(0, position).split('\n');
  if (lines.length === 1) return `character ${position}`;
  return `line ${lines.length} of the expression, character ${lines.at(-1)?.length}`;
}

function describeReason(
  code: string | undefined,
  message: string | undefined,
  { timeoutMs }: ExpressionLimits,
): string {
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' || code === 'D1012')
    return `it ran for more than ${timeoutMs / 1000} s`;
  if (code === 'D1011') return 'it is nested too deeply; check for endless recursion';
  return message === undefined || message === '' ? 'it could not be evaluated' : message;
}
