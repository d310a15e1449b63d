import Type, { type Static } from 'typebox';
import { DURATION_TEXT, UNIT_MS, type Duration } from '../../common/duration.js';
import { CONCURRENCY_LIMITS, MAX_GOAL_LENGTH, MAX_RUN_TIMEOUT_DAYS } from '../../common/limits.js';
import {
  busyFields,
  durationSchema,
  keepField,
  labelsField,
  optionalField,
  PIPELINE_ID,
  priorityField,
  runTimeoutField,
  startFields,
  TASK_ID,
} from './definition-fields.js';
import { repeatField, whenField } from './conditions.js';

/**
 * The single source of the pipeline definition: TypeScript types, validators, the JSON Schema for editors and the
 * components of the API derive from it (Pipeline definition, Task; D1–D4).
 */

export const ParamDefinition = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(['string', 'integer', 'number', 'boolean', 'list', 'object'], {
        default: 'string',
        description: 'Type of the value. A value of another type is coerced if nothing is lost.',
      }),
    ),
    description: Type.Optional(Type.String({ description: 'Purpose of the parameter.' })),
    default: Type.Optional(
      Type.Unknown({
        description: 'Used when no value is supplied. Without a default the parameter is required.',
      }),
    ),
    enum: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, description: 'The allowed values.' })),
    minimum: Type.Optional(Type.Number({ description: 'The smallest number allowed.' })),
    maximum: Type.Optional(Type.Number({ description: 'The largest number allowed.' })),
    pattern: Type.Optional(Type.String({ description: 'A regular expression that a string must match.' })),
    items: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the elements of a list.' }),
    ),
    properties: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schemas of the keys of an object.' }),
    ),
  },
  { additionalProperties: false, description: 'A typed parameter.' },
);

export const TaskDefinition = Type.Object(
  {
    id: Type.String({ pattern: TASK_ID, description: 'Unique in the pipeline; the key of its output.' }),
    tool: Type.String({ description: 'The tool to call; `wavetrain tools` lists them.' }),
    inputs: optionalField(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Inputs of the tool. Strings may contain {{templates}}.',
      }),
    ),
    parallel_over: optionalField(
      Type.String({
        description: 'A single template whose value is a list. The tool is called once for each {{item}}.',
      }),
    ),
    fan_out_concurrency: optionalField(
      Type.Integer({
        minimum: 1,
        description: 'How many items may be in flight at once. Replaces the option of the run.',
      }),
    ),
    on_item_error: Type.Optional(
      Type.Unsafe<'fail' | 'collect'>({
        enum: ['fail', 'collect', null],
        default: 'fail',
        description:
          'fail: a failed item fails the task. collect: {error} takes the place of its output, and the task goes on.',
      }),
    ),
    when: whenField(
      'Runs the task only if it holds: a template, a map as in {value: "{{params.kind}}", const: invoice}, or a list of them. With parallel_over, it may read {{item}}.',
    ),
    on_error: Type.Optional(
      Type.Unsafe<'fail' | 'continue'>({
        enum: ['fail', 'continue', null],
        default: 'fail',
        description:
          'fail: when the task has failed, the run fails. continue: the run goes on without its output.',
      }),
    ),
    await: optionalField(
      Type.Array(Type.String(), {
        description: 'Tasks that must run first although no template references them.',
      }),
    ),
    repeat: repeatField,
    retry: optionalField(
      Type.Integer({ minimum: 0, default: 0, description: 'How many times a failed attempt is retried.' }),
    ),
    retry_delay: Type.Optional(
      durationSchema(
        'Delay before the first retry, in seconds or as in 1m30s; doubled for each further one. Replaces retry_base_delay.',
        'zero',
      ),
    ),
    max_retry_delay: Type.Optional(
      durationSchema(
        'Longest delay before a retry, in seconds or as in 1m30s. Replaces the option of the run.',
        'zero',
      ),
    ),
    cache: Type.Optional(
      Type.Unsafe<boolean | { readonly ttl?: Duration }>({
        type: ['boolean', 'object', 'null'],
        properties: {
          ttl: {
            type: ['number', 'string'],
            exclusiveMinimum: 0,
            ...DURATION_TEXT,
            description: 'How long an output is reused, in seconds or as in 12h.',
          },
        },
        additionalProperties: false,
        default: false,
        description:
          'Reuses the output of an earlier invocation with the same tool and the same inputs, in any run of the tenant.',
      }),
    ),
    timeout: Type.Optional(
      durationSchema(
        'Limit for one attempt, in seconds or as in 1m30s. Replaces per_task_timeout.',
        'above zero',
      ),
    ),
    pool: optionalField(
      Type.String({
        pattern: TASK_ID,
        description:
          'Pool of the server, of which each call takes a place while it is at work; it waits for one before.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A task: a tool and its inputs.' },
);

/** A handler is a task: the check of the list says what is wrong with one, and its schema is that of a task (D80). */
function handlersField(description: string) {
  return Type.Optional(
    Type.Unsafe<readonly TaskDefinition[]>({
      type: ['array', 'null'],
      minItems: 1,
      items: { type: 'object' },
      description,
    }),
  );
}

/** The tasks that run after all others, and how long they may take (D80). */
export const handlerFields = {
  on_success: handlersField('Tasks that run after all others when the run has succeeded.'),
  on_failure: handlersField('Tasks that run after all others when the run has failed, as to alert somebody.'),
  on_cancel: handlersField('Tasks that run after all others when the run was cancelled.'),
  finally: handlersField('Tasks that run last, however the run has ended, as to clean up.'),
  handler_timeout: Type.Optional(
    Type.Unsafe<Duration>({
      ...durationSchema(
        'Limit for each list of handlers, in seconds or as in 10m. Default: 5m.',
        'above zero',
      ),
      maximum: (MAX_RUN_TIMEOUT_DAYS * UNIT_MS.d) / 1000,
    }),
  ),
};

export const PipelineDefinition = Type.Object(
  {
    id: Type.String({ pattern: PIPELINE_ID, description: 'Names the pipeline.' }),
    goal: Type.String({
      maxLength: MAX_GOAL_LENGTH,
      description: 'Purpose of the pipeline. May contain {{params.…}} templates.',
    }),
    description: optionalField(Type.String({ description: 'Longer description for readers.' })),
    version: optionalField(Type.String({ description: 'Free text; quote it, or YAML reads a number.' })),
    params: optionalField(
      Type.Record(Type.String(), ParamDefinition, {
        description: 'Typed parameters, read as {{params.NAME}}.',
      }),
    ),
    inputs: optionalField(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Default values, read as {{pipeline.inputs.KEY}}.',
      }),
    ),
    reads: optionalField(
      Type.Array(Type.String(), { description: 'Blackboard keys that the session is limited to.' }),
    ),
    labels: labelsField('Labels of its runs, as in {team: billing}: lists of runs are filtered by them.'),
    ...startFields,
    priority: priorityField,
    ...busyFields,
    concurrency_key: optionalField(
      Type.String({
        maxLength: CONCURRENCY_LIMITS.templateLength,
        description: 'Counts max_running for each value of this by itself, as in {{params.customer}}.',
      }),
    ),
    keep: keepField,
    timeout: runTimeoutField,
    ...handlerFields,
    tasks: Type.Array(TaskDefinition, { minItems: 1, description: 'The tasks, in any order.' }),
  },
  { additionalProperties: false, description: 'A pipeline.' },
);

export type ParamDefinition = Static<typeof ParamDefinition>;
export type StartFields = Pick<PipelineDefinition, keyof typeof startFields>;
export type TaskDefinition = Static<typeof TaskDefinition>;
export type PipelineDefinition = Static<typeof PipelineDefinition>;
