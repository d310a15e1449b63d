import { ToolError } from '../../common/errors.js';
import { describeKind } from '../../common/json/json.js';
import { MAX_CALLED_VALUES } from '../../common/limits.js';
import { formatNumber } from '../../common/text.js';
import { exactObject, INTEGER_SCHEMA } from '../schemas/output.js';
import { defineTool, type PipelineCall } from '../tool.js';

/** The schema of the outcome of a pipeline that ran inside a task. */
export const CALL_SCHEMA = exactObject({
  outputs: { type: 'object' },
  waves_executed: INTEGER_SCHEMA,
  tasks_executed: INTEGER_SCHEMA,
});

/** Runs another pipeline inside a task (D49). */
export const runPipeline = defineTool({
  name: 'run_pipeline',
  pure: true,
  description: 'Runs another pipeline, from a file or written in place, and returns its outputs',
  inputs: {
    file: {
      type: 'string',
      minLength: 1,
      description: 'a pipeline file, in one of the allowed folders, or an object, such as s3://bucket/key',
    },
    pipeline: {
      verbatim: true,
      description: 'instead of a file: the definition, as an object or as YAML or JSON text',
    },
    params: { type: 'object', default: {}, description: 'values of its params' },
    inputs: { type: 'object', default: {}, description: 'values that override its inputs' },
    session: {
      type: 'object',
      default: {},
      description: 'session values that add to, and override, those of this run',
    },
  },
  output: {
    name: 'outcome',
    description: 'outputs (by task id), waves_executed and tasks_executed',
    type: 'object',
    schema: CALL_SCHEMA,
  },
  run: (call, context) => context.runPipeline(call),
});

/**
 * Checks the argument of `context.runPipeline`, since a tool may be written in JavaScript.
 *
 * @throws ToolError, not retryable, that names the invalid field
 */
export function assertPipelineCall(call: unknown): asserts call is PipelineCall {
  if (!isPlainObject(call))
    throw ToolError.nonRetryable(
      `run_pipeline takes an object with "file" or "pipeline", not ${describeValue(call)}`,
    );
  const { file, pipeline } = call;
  const hasFile = file !== undefined && file !== null;
  if (hasFile && (typeof file !== 'string' || file === ''))
    throw ToolError.nonRetryable(`"file" must be the path of a pipeline, not ${describeValue(file)}`);
  if (hasFile === (pipeline !== undefined && pipeline !== null))
    throw ToolError.nonRetryable(
      `give exactly one of "file" and "pipeline": ${hasFile ? 'both are' : 'neither is'} given`,
    );
  for (const key of ['params', 'inputs', 'session'] as const) {
    const values = call[key];
    if (values === undefined) continue;
    if (!isPlainObject(values))
      throw ToolError.nonRetryable(`"${key}" must be an object, not ${describeValue(values)}`);
    const count = Object.keys(values).length;
    if (count > MAX_CALLED_VALUES)
      throw ToolError.nonRetryable(
        `"${key}" has ${formatNumber(count)} values, more than ${formatNumber(MAX_CALLED_VALUES)}: pass a list or an object as one of them`,
      );
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function describeValue(value: unknown): string {
  if (value === '') return 'an empty string';
  const [, className = ''] = /^\[object (\w+)\]$/.exec(Object.prototype.toString.call(value)) ?? [];
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? `a ${className}`
    : describeKind(value);
}
