import Type from 'typebox';
import type { PlanReport } from '../../plans/load.js';
import type { PlanStatistics } from '../../plans/statistics.js';
import { reportFields } from './definition.js';
import { Count, nullable, wire } from './wire.js';

const ids = Type.Array(Type.String());

const PlanStatisticsSchema = wire<PlanStatistics>()(
  Type.Object(
    {
      id: Type.String(),
      goal: Type.String({ description: 'Empty when the plan has none.' }),
      sub_pipelines: Type.Integer({ minimum: 0, description: 'How many there are.' }),
      inputs_count: Count,
      order: Type.Array(Type.String(), { description: 'Sub-pipelines as they run one after another.' }),
      waves: Type.Integer({ minimum: 0, description: 'Waves of sub-pipelines.' }),
      wave_ids: Type.Array(ids, { description: 'The sub-pipelines of each wave: they are independent.' }),
      plan_concurrency: Type.Integer({ minimum: 1 }),
      tasks: Type.Integer({ minimum: 0, description: 'Tasks of all pipelines that are known.' }),
      keys: Type.Array(
        Type.Object({
          key: Type.String(),
          stored_by: nullable(Type.String({ description: 'Null: the run is given it.' })),
          read_by: ids,
        }),
        { description: 'Who stores each key of the blackboard, and who reads it.' },
      ),
    },
    { title: 'PlanStatistics' },
  ),
);

export const PlanReportSchema = wire<PlanReport>()(
  Type.Object({ ...reportFields, stats: nullable(PlanStatisticsSchema) }, { title: 'PlanReport' }),
);
