import Type from 'typebox';
import type { Problem, ProblemCode } from '../../definition/problems/problem.js';
import type { Graph } from '../../pipelines/drawing/graph.js';
import type { ValidationReport } from '../../pipelines/report.js';
import type { Statistics } from '../../pipelines/statistics.js';
import type { DefinitionGraph, PlanGraph } from '../../plans/graph.js';
import type { PlanReport } from '../../plans/report.js';
import type { PlanStatistics } from '../../plans/statistics.js';
import type { ToolMetadata } from '../../tools/catalog.js';
import { anyJson, Count, count, nullable, schemaFor } from './wire.js';

const strings = Type.Array(Type.String());

const PositionSchema = Type.Object({
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1, description: 'In UTF-16 code units, from 1.' }),
});

export const ProblemSchema = schemaFor<Problem>()(
  Type.Object(
    {
      code: Type.Unsafe<ProblemCode>({
        type: 'string',
        description: 'A stable code, such as `unknown_tool`.',
      }),
      message: Type.String(),
      path: Type.String({ description: 'JSON Pointer into the definition as it was sent.' }),
      severity: Type.Enum(['error', 'warning']),
      line: Type.Optional(Type.Integer({ minimum: 1 })),
      column: Type.Optional(Type.Integer({ minimum: 1 })),
      file: Type.Optional(
        Type.String({ description: 'The file that `path`, `line` and `column` refer to; absent over HTTP.' }),
      ),
      hint: Type.Optional(Type.String({ description: 'How to solve the problem.' })),
      fix: Type.Optional(
        Type.Object(
          {
            title: Type.String({ description: 'What it does, such as `write "params"`.' }),
            edits: Type.Array(
              Type.Object({
                from: PositionSchema,
                to: PositionSchema,
                text: Type.String({ description: 'Replaces the text from `from` up to `to`.' }),
              }),
            ),
          },
          {
            description:
              'How to change the text that was sent, so that the problem disappears; only where that is clear.',
          },
        ),
      ),
    },
    { title: 'Problem' },
  ),
);

const StatisticsSchema = schemaFor<Statistics>()(
  Type.Object(
    {
      id: Type.String(),
      goal: Type.String(),
      tasks: Count,
      tools: strings,
      inputs_count: Count,
      store_keys: strings,
      waves: Count,
      wave_sizes: Type.Array(Count),
      fan_out_tasks: Count,
      total_retries: Count,
    },
    { title: 'Statistics' },
  ),
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

export const ValidationReportSchema = schemaFor<ValidationReport>()(
  Type.Object({ ...report, stats: nullable(StatisticsSchema) }, { title: 'ValidationReport' }),
);

export const GraphSchema = schemaFor<Graph>()(
  Type.Object(
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
  ),
);

export const PlanGraphSchema = schemaFor<PlanGraph>()(
  Type.Object(
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
  ),
);

export const DefinitionGraphSchema = schemaFor<DefinitionGraph>()(
  Type.Union([
    Type.Object({ kind: Type.Literal('pipeline'), graph: GraphSchema }, { title: 'GraphOfPipeline' }),
    Type.Object(
      {
        kind: Type.Literal('plan'),
        plan: PlanGraphSchema,
        pipelines: Type.Record(Type.String(), GraphSchema, { description: 'By sub-pipeline id.' }),
      },
      { title: 'GraphOfPlan' },
    ),
  ]),
);

const PlanStatisticsSchema = schemaFor<PlanStatistics>()(
  Type.Object(
    {
      id: Type.String(),
      goal: Type.String({ description: 'Empty for a plan without a goal.' }),
      sub_pipelines: count('Number of sub-pipelines.'),
      inputs_count: Count,
      order: Type.Array(Type.String(), { description: 'Ids of the sub-pipelines in sequential order.' }),
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
  ),
);

export const PlanReportSchema = schemaFor<PlanReport>()(
  Type.Object({ ...report, stats: nullable(PlanStatisticsSchema) }, { title: 'PlanReport' }),
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

const ToolMetadataSchema = schemaFor<ToolMetadata>()(
  Type.Object(
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
  ),
);

export const ToolListSchema = Type.Object(
  { tools: Type.Array(Type.String()), metadata: Type.Array(ToolMetadataSchema) },
  { title: 'ToolList' },
);
