import Type from 'typebox';
import { ProblemSchema } from './problem.js';
import { anyJson, Count, count, nullable } from './shape.js';

const strings = Type.Array(Type.String());

export const StatisticsSchema = Type.Object(
  {
    id: Type.String(),
    goal: Type.String(),
    tasks: count('Number of tasks.'),
    tools: Type.Array(Type.String(), { description: 'Names, sorted.' }),
    inputs_count: Count,
    store_keys: Type.Array(Type.String(), {
      description: 'The literal keys that `store` tasks write, in the order of the tasks.',
    }),
    waves: count('Number of waves.'),
    wave_sizes: Type.Array(Count),
    fan_out_tasks: count('Number of tasks with `parallel_over`.'),
    total_retries: count('Sum of `retry` over the tasks.'),
  },
  { title: 'Statistics' },
);

/** The fields that reports on pipelines and plans share. */
const report = {
  ok: Type.Boolean(),
  errors: nullable(
    Type.Array(Type.String(), { description: 'The errors as sentences; null when there are none.' }),
  ),
  warnings: strings,
  problems: Type.Array(ProblemSchema, { description: 'Errors and warnings, as data.' }),
  message: Type.String(),
};

export const ValidationReportSchema = Type.Object(
  { ...report, stats: nullable(StatisticsSchema, 'Null when it is not valid.') },
  { title: 'ValidationReport' },
);

export const GraphSchema = Type.Object(
  {
    id: Type.String(),
    goal: Type.String(),
    waves: Type.Array(
      Type.Array(Type.Object({ id: Type.String(), tool: Type.String(), fan_out: Type.Boolean() })),
    ),
    edges: Type.Array(
      Type.Object({
        from: Type.String(),
        to: Type.String(),
        kind: Type.Enum(['template', 'await']),
      }),
    ),
  },
  { title: 'Graph' },
);

export const PlanGraphSchema = Type.Object(
  {
    id: Type.String(),
    goal: Type.String({ description: 'Empty for a plan without a goal.' }),
    waves: Type.Array(
      Type.Array(Type.Object({ id: Type.String(), tasks: count('Number of tasks of the sub-pipeline.') })),
    ),
    edges: Type.Array(
      Type.Object({
        from: Type.String(),
        to: Type.String(),
        keys: Type.Array(Type.String(), { description: 'What `to` reads and `from` stores.' }),
      }),
    ),
  },
  { title: 'PlanGraph' },
);

export const DefinitionGraphSchema = Type.Union([
  Type.Object({ kind: Type.Literal('pipeline'), graph: GraphSchema }, { title: 'GraphOfPipeline' }),
  Type.Object(
    {
      kind: Type.Literal('plan'),
      plan: PlanGraphSchema,
      pipelines: Type.Record(Type.String(), GraphSchema, { description: 'By sub-pipeline id.' }),
    },
    { title: 'GraphOfPlan' },
  ),
]);

export const PlanStatisticsSchema = Type.Object(
  {
    id: Type.String(),
    goal: Type.String({ description: 'Empty for a plan without a goal.' }),
    sub_pipelines: count('Number of sub-pipelines.'),
    inputs_count: Count,
    order: Type.Array(Type.String(), {
      description:
        'Ids of the sub-pipelines, each after the writers of its keys, otherwise in declared order.',
    }),
    waves: count('Number of waves of sub-pipelines.'),
    wave_ids: Type.Array(strings, { description: 'Ids of the independent sub-pipelines of each wave.' }),
    plan_concurrency: Type.Integer({ minimum: 1 }),
    tasks: count('Number of tasks of all pipelines that were sent.'),
    keys: Type.Array(
      Type.Object({
        key: Type.String(),
        stored_by: nullable(Type.String({ description: 'Null for a value that the run starts with.' })),
        read_by: strings,
      }),
      { description: 'Which sub-pipelines store and read each key of the blackboard.' },
    ),
  },
  { title: 'PlanStatistics' },
);

export const PlanReportSchema = Type.Object(
  { ...report, stats: nullable(PlanStatisticsSchema, 'Null when it is not valid.') },
  { title: 'PlanReport' },
);

const callable = {
  name: Type.String(),
  description: Type.String(),
  inputs: Type.Record(
    Type.String(),
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      required: Type.Boolean(),
      default: anyJson('Value of an omitted input; null when there is none.'),
      type: Type.Optional(Type.String()),
      enum: Type.Optional(Type.Array(anyJson('An allowed value.'))),
      verbatim: Type.Optional(
        Type.Literal(true, {
          description:
            'Lists and objects are passed to the tool unchanged; their templates are not resolved.',
        }),
      ),
      registry: Type.Optional(
        Type.Union([Type.Literal('functions'), Type.Literal('schemas'), Type.Literal('sources')], {
          description: 'The input names one of the functions, schemas or sources of the tool.',
        }),
      ),
    }),
  ),
  output: Type.Object({ name: Type.String(), description: Type.String(), type: Type.String() }),
};

export const ToolMetadataSchema = Type.Object(
  {
    ...callable,
    replaces_builtin: Type.Optional(
      Type.Literal(true, { description: 'It is used in place of the built-in tool of that name.' }),
    ),
    functions: Type.Optional(
      Type.Array(Type.Object(callable), {
        description: 'The functions that an input may name; their inputs are further inputs of the task.',
      }),
    ),
    sources: Type.Optional(
      Type.Array(Type.Object(callable), {
        description: 'The sources that an input may name; their inputs are further inputs of the task.',
      }),
    ),
    schemas: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), description: Type.String() }), {
        description: 'The schemas that an input may name.',
      }),
    ),
  },
  { title: 'ToolMetadata' },
);

export const ToolListSchema = Type.Object(
  { tools: Type.Array(Type.String()), metadata: Type.Array(ToolMetadataSchema) },
  { title: 'ToolList' },
);
