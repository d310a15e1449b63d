import Type, { type Static } from 'typebox';

/**
 * The definition of a pipeline, once: TypeScript types, validation, the JSON Schema for editors and the API's
 * components all derive from here (Pipeline definition, Task; D1–D4).
 */

/** Task ids: they are named in templates, so they hold no dots (D1). */
export const TASK_ID = '^[A-Za-z_][A-Za-z0-9_-]{0,127}$';

/** Pipeline ids: as D1, and dots between the other characters, for recorded pipelines are named after files. */
export const PIPELINE_ID = '^[A-Za-z_][A-Za-z0-9_.-]{0,127}$';

export const ParamDefinition = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(['string', 'integer', 'number', 'boolean', 'list', 'object'], {
        default: 'string',
        description: 'What the value is; a value of another type is coerced where nothing is lost.',
      }),
    ),
    description: Type.Optional(Type.String({ description: 'What the parameter is for.' })),
    default: Type.Optional(
      Type.Unknown({ description: 'Used when none is given. Without a default the parameter is required.' }),
    ),
    enum: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, description: 'The values allowed.' })),
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
    inputs: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'What the tool is called with. Strings may hold {{templates}}.',
      }),
    ),
    parallel_over: Type.Optional(
      Type.String({
        description: 'One template that gives a list: the tool is called once for each {{item}}.',
      }),
    ),
    await: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Tasks that must have run before, where no template says so.',
      }),
    ),
    retry: Type.Optional(
      Type.Integer({ minimum: 0, default: 0, description: 'How many further attempts follow a failed one.' }),
    ),
    timeout: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'Seconds that one attempt may take; instead of per_task_timeout.',
      }),
    ),
  },
  { additionalProperties: false, description: 'One task: a tool and what to call it with.' },
);

export const PipelineDefinition = Type.Object(
  {
    id: Type.String({ pattern: PIPELINE_ID, description: 'Names the pipeline.' }),
    goal: Type.String({ description: 'What it is for; may hold {{params.…}} templates.' }),
    description: Type.Optional(Type.String({ description: 'More words for readers.' })),
    version: Type.Optional(Type.String({ description: 'Free text; quote it, or YAML reads a number.' })),
    params: Type.Optional(
      Type.Record(Type.String(), ParamDefinition, {
        description: 'Typed parameters, read as {{params.NAME}}.',
      }),
    ),
    inputs: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Default values, read as {{pipeline.inputs.KEY}}.',
      }),
    ),
    reads: Type.Optional(
      Type.Array(Type.String(), { description: 'Blackboard keys that the session is limited to.' }),
    ),
    tasks: Type.Array(TaskDefinition, { minItems: 1, description: 'What there is to do, in any order.' }),
  },
  { additionalProperties: false, description: 'A pipeline.' },
);

export type ParamDefinition = Static<typeof ParamDefinition>;
export type TaskDefinition = Static<typeof TaskDefinition>;
export type PipelineDefinition = Static<typeof PipelineDefinition>;
