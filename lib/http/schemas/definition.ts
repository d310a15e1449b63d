import Type from 'typebox';
import type { Problem, ProblemCode } from '../../definition/problem.js';
import type { Graph } from '../../pipelines/graph.js';
import type { ValidationReport } from '../../pipelines/report.js';
import type { Statistics } from '../../pipelines/waves.js';
import { Count, nullable, wire } from './wire.js';

const strings = Type.Array(Type.String());

export const ProblemSchema = wire<Problem>()(
  Type.Object(
    {
      code: Type.Unsafe<ProblemCode>({
        type: 'string',
        description: 'A stable word, such as `unknown_tool`.',
      }),
      message: Type.String(),
      path: Type.String({ description: 'JSON pointer into the definition as it was given.' }),
      severity: Type.Enum(['error', 'warning']),
      line: Type.Optional(Type.Integer({ minimum: 1 })),
      column: Type.Optional(Type.Integer({ minimum: 1 })),
      file: Type.Optional(
        Type.String({ description: 'The file that path and position lead into; absent over HTTP.' }),
      ),
      hint: Type.Optional(Type.String({ description: 'What to do about it.' })),
    },
    { title: 'Problem' },
  ),
);

const StatisticsSchema = wire<Statistics>()(
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

/** What a report tells, whatever was checked. */
export const reportFields = {
  ok: Type.Boolean(),
  errors: nullable(Type.Array(Type.String(), { description: 'Sentences; null when there are none.' })),
  warnings: strings,
  problems: Type.Array(ProblemSchema, { description: 'Errors and warnings as data.' }),
  message: Type.String(),
};

export const ValidationReportSchema = wire<ValidationReport>()(
  Type.Object({ ...reportFields, stats: nullable(StatisticsSchema) }, { title: 'ValidationReport' }),
);

export const GraphSchema = wire<Graph>()(
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
