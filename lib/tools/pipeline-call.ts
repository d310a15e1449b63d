import { ToolError } from '../common/errors.js';
import type { Json, JsonObject } from '../common/json.js';

/** A pipeline that a tool runs inside its task (D49), and what it is given. Exactly one of `file` and `pipeline`. */
export interface PipelineCall {
  /** A YAML or JSON file, inside the folders that tools may read (D51). */
  readonly file?: string;
  /** The definition itself: an object, or its text in YAML or JSON. */
  readonly pipeline?: Json;
  readonly params?: JsonObject;
  readonly inputs?: JsonObject;
  /** Session values beside those that the calling run sees; they come first. */
  readonly session?: JsonObject;
}

/** What it produced. */
export interface PipelineOutcome {
  /** Task id to output. */
  readonly outputs: Record<string, Json>;
  readonly waves_executed: number;
  /** Tool invocations, each item counted (D20). */
  readonly tasks_executed: number;
}

/**
 * Holds a call against its type: a tool of one's own may be written in JavaScript.
 *
 * @throws ToolError, not retryable, that says what is wrong with it
 */
export function assertCall(call: unknown): asserts call is PipelineCall {
  if (!isKeyed(call))
    throw final(`run_pipeline takes an object with "file" or "pipeline", and not ${nameOf(call)}`);
  const { file, pipeline } = call;
  const hasFile = file !== undefined && file !== null;
  if (hasFile && (typeof file !== 'string' || file === '')) {
    throw final(`"file" names the pipeline to run, and is not ${nameOf(file)}`);
  }
  if (hasFile === (pipeline !== undefined && pipeline !== null)) {
    throw final(
      `exactly one of "file" and "pipeline" names the pipeline to run, and ${hasFile ? 'both are' : 'neither is'} given`,
    );
  }
  for (const key of ['params', 'inputs', 'session'] as const) {
    if (call[key] === undefined || isKeyed(call[key])) continue;
    throw final(`"${key}" is an object of names and values, and not ${nameOf(call[key])}`);
  }
}

function isKeyed(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function nameOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value === '') return 'an empty text';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object'
    ? `a ${Object.prototype.toString.call(value).slice('[object '.length, -1)}`
    : `a ${typeof value}`;
}

function final(message: string): ToolError {
  return new ToolError(message, { retryable: false });
}
