import Type from 'typebox';
import { ProblemSchema } from './problem.js';
import {
  anyJson,
  anyJsonObject,
  count,
  Count,
  described,
  flag,
  list,
  mapOf,
  nullable,
  onlyTrue,
  text,
  titled,
} from './shape.js';

const strings = Type.Array(Type.String());

export const StatisticsSchema = titled('Statistics', {
  id: Type.String(),
  goal: Type.String(),
  tasks: count('Number of tasks, without handlers.'),
  handlers: Type.Optional(count('Number of handlers; absent without any.')),
  tools: list(Type.String(), 'Names, sorted.'),
  inputs_count: Count,
  store_keys: list(Type.String(), 'The literal keys that `store` tasks write, in the order of the tasks.'),
  waves: count('Number of waves.'),
  wave_sizes: Type.Array(Count),
  fan_out_tasks: count('Number of tasks with `parallel_over`.'),
  total_retries: count('Sum of `retry` over the tasks.'),
});

const PathsSchema = mapOf(
  Type.Object({
    type: text('As in `list of text` or `integer or null`; `any` when nobody knows.'),
    description: Type.Optional(Type.String()),
  }),
  'By path, such as `fetch.output.rows[].id`, where `[]` is for any index.',
);

export const ReadablePathsSchema = titled('ReadablePaths', {
  sub_pipeline: nullable(
    text('The id of the sub-pipeline whose pipeline is in the plan.'),
    'Null for a pipeline, and for the handlers of a plan.',
  ),
  paths: PathsSchema,
  items: mapOf(PathsSchema, 'The paths from `item`, by the id of a task with `parallel_over`.'),
});

/** The fields that reports on pipelines and plans share. */
const report = {
  ok: Type.Boolean(),
  errors: nullable(list(Type.String(), 'The errors as sentences; null when there are none.')),
  warnings: strings,
  problems: list(ProblemSchema, 'Errors and warnings, as data.'),
  message: Type.String(),
  paths: Type.Optional(
    list(
      ReadablePathsSchema,
      'The paths that templates can read, at most 2,000; absent unless the request asks for them, and empty for a text that cannot be read.',
    ),
  ),
};

export const ValidationReportSchema = titled('ValidationReport', {
  ...report,
  stats: nullable(StatisticsSchema, 'Null when it is not valid.'),
});

export const GraphSchema = titled('Graph', {
  id: Type.String(),
  goal: Type.String(),
  waves: Type.Array(
    Type.Array(
      Type.Object({
        id: Type.String(),
        tool: Type.String(),
        fan_out: Type.Boolean(),
        fields: Type.Optional(
          list(Type.String(), 'Fields of what a call returns, at most 12; absent when nobody knows them.'),
        ),
      }),
    ),
  ),
  wave_lists: Type.Optional(
    list(
      nullable(text('The list of handlers, as in `on_failure`.')),
      'By wave, the list of handlers to which it belongs; null for tasks. Absent without handlers.',
    ),
  ),
  edges: Type.Array(
    Type.Object({ from: Type.String(), to: Type.String(), kind: Type.Enum(['template', 'await']) }),
  ),
});

export const PlanGraphSchema = titled('PlanGraph', {
  id: Type.String(),
  goal: text('Empty for a plan without a goal.'),
  waves: Type.Array(
    Type.Array(Type.Object({ id: Type.String(), tasks: count('Number of tasks of the sub-pipeline.') })),
  ),
  edges: Type.Array(
    Type.Object({
      from: Type.String(),
      to: Type.String(),
      keys: list(Type.String(), 'What `to` reads and `from` stores.'),
    }),
  ),
  handlers: Type.Optional(GraphSchema),
});

export const DefinitionGraphSchema = Type.Union([
  Type.Object({ kind: Type.Literal('pipeline'), graph: GraphSchema }, { title: 'GraphOfPipeline' }),
  Type.Object(
    {
      kind: Type.Literal('plan'),
      plan: PlanGraphSchema,
      pipelines: mapOf(GraphSchema, 'By sub-pipeline id.'),
    },
    { title: 'GraphOfPlan' },
  ),
]);

export const PlanStatisticsSchema = titled('PlanStatistics', {
  id: Type.String(),
  goal: text('Empty for a plan without a goal.'),
  sub_pipelines: count('Number of sub-pipelines.'),
  inputs_count: Count,
  order: list(
    Type.String(),
    'Ids of the sub-pipelines, each after the writers of its keys, otherwise in declared order.',
  ),
  waves: count('Number of waves of sub-pipelines.'),
  wave_ids: list(strings, 'Ids of the independent sub-pipelines of each wave.'),
  plan_concurrency: Type.Integer({ minimum: 1 }),
  tasks: count('Number of tasks of all pipelines that were sent.'),
  handlers: Type.Optional(count('Number of handlers of the plan itself; absent without any.')),
  handler_waves: Type.Optional(
    Type.Array(Type.Object({ list: text('The list of handlers, as in `on_failure`.'), ids: strings }), {
      description: 'Ids of the handlers of the plan itself, by list and wave; absent without any.',
    }),
  ),
  keys: Type.Array(
    Type.Object({
      key: Type.String(),
      stored_by: nullable(text('Null for a value that the run starts with.')),
      read_by: strings,
    }),
    { description: 'Which sub-pipelines store and read each key of the blackboard.' },
  ),
});

export const PlanReportSchema = titled('PlanReport', {
  ...report,
  stats: nullable(PlanStatisticsSchema, 'Null when it is not valid.'),
});

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
      verbatim: onlyTrue(
        'Lists and objects are passed to the tool unchanged; their templates are not resolved.',
      ),
      registry: Type.Optional(
        Type.Union([Type.Literal('functions'), Type.Literal('schemas'), Type.Literal('sources')], {
          description: 'The input names one of the functions, schemas or sources of the tool.',
        }),
      ),
    }),
  ),
  output: Type.Object({
    name: Type.String(),
    description: Type.String(),
    type: Type.String(),
    schema: Type.Optional(
      anyJsonObject('The JSON Schema (2020-12) of every output; absent when nobody knows.'),
    ),
  }),
};

export const ToolMetadataSchema = titled('ToolMetadata', {
  ...callable,
  replaces_builtin: onlyTrue('It is used in place of the built-in tool of that name.'),
  functions: Type.Optional(
    list(
      Type.Object(callable),
      'The functions that an input may name; their inputs are further inputs of the task.',
    ),
  ),
  sources: Type.Optional(
    list(
      Type.Object(callable),
      'The sources that an input may name; their inputs are further inputs of the task.',
    ),
  ),
  schemas: Type.Optional(
    list(
      Type.Object({ name: Type.String(), description: Type.String() }),
      'The schemas that an input may name.',
    ),
  ),
});

export const ToolListSchema = titled('ToolList', {
  tools: Type.Array(Type.String()),
  metadata: Type.Array(ToolMetadataSchema),
});

export const CaseProblemSchema = described('CaseProblem', 'Why a case of a test has failed.', {
  message: text('A sentence for people, with the path of the value.'),
  line: Type.Integer({ minimum: 1, description: 'In the file of tests.' }),
  column: Type.Integer({ minimum: 1 }),
  path: text('JSON Pointer into the file of tests.'),
  expected: Type.Optional(anyJson('What the case expects; absent where a schema says what is valid.')),
  received: Type.Optional(anyJson('What came out; absent when nothing did.')),
  hint: Type.Optional(text('How to solve the problem.')),
});

export const CaseReportSchema = described('CaseReport', 'The result of one case of a test.', {
  name: Type.String(),
  ok: flag('It has passed.'),
  line: Type.Integer({ minimum: 1, description: 'Where it begins in the file of tests.' }),
  duration_ms: count('Time of the machine, not of the clock of the case.'),
  problems: list(CaseProblemSchema, 'None when it has passed; at most 20.'),
});

const CoveredSchema = titled('Covered', {
  total: count('How many there are.'),
  never: list(Type.String(), 'Those that no case has reached.'),
});

export const TestCoverageSchema = described(
  'TestCoverage',
  'What the cases of a file have reached together.',
  {
    tasks: CoveredSchema,
    branches: CoveredSchema,
  },
);

export const TestResultSchema = described(
  'TestResult',
  'The results of the tests beside a file of the folder.',
  {
    file: nullable(
      text('The file of tests, in the folder; null when they were sent, or when there is none.'),
    ),
    ok: flag('The file and the definition are valid, and every case has passed.'),
    problems: list(ProblemSchema, 'Of the file of tests, or of the definition; no case was run then.'),
    in_definition: flag('The problems are those of the definition.'),
    cases: list(CaseReportSchema, 'Those that were run, in their order.'),
    left_out: count('Cases that were not run, because there are too many, or they take too long together.'),
    coverage: nullable(TestCoverageSchema, 'Null when not every case was run.'),
  },
);
