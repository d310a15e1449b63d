import Type from 'typebox';
import { Cost, count, described, list, nullable, text, Time, titled } from './shape.js';

const duration = (share: string) =>
  nullable(
    Type.Number({ minimum: 0 }),
    `Milliseconds from the start to the end that ${share} of the runs took at most, 5 % more or less. Null when none of them had started.`,
  );

/** The lengths of time of which a row counts the runs. */
export const StatisticsPeriodSchema = Type.Enum(['hour', 'day', 'total'], {
  title: 'StatisticsPeriod',
  description:
    'The time of a row: an `hour`, a `day` (of UTC), or all of the time that is asked for (`total`).',
});

export const PipelineStatisticsSchema = described(
  'PipelineStatistics',
  'The runs of a pipeline or plan that have finished in a period.',
  {
    pipeline_id: text(
      'The id of the pipeline or plan; `*` for all of a tenant beyond the first 1,000 that an hour counts by themselves.',
    ),
    tenant_id: Type.String(),
    at: { ...Time, description: 'The beginning of the period; for `total`, that of all of the time.' },
    succeeded: count('Number of runs that have succeeded.'),
    failed: count('Number of runs that have failed.'),
    cancelled: count('Number of runs that were cancelled.'),
    p50_ms: duration('half'),
    p95_ms: duration('95 %'),
    cost: Type.Optional(Cost),
  },
);

export const StatisticsPageSchema = titled('StatisticsPage', {
  from: { ...Time, description: 'The beginning of the time that is counted.' },
  to: { ...Time, description: 'Its end: runs that have finished earlier are counted.' },
  by: StatisticsPeriodSchema,
  rows: list(
    PipelineStatisticsSchema,
    'By tenant, then pipeline, then time, the oldest first. Periods without runs have no row.',
  ),
  next_cursor: nullable(text('Send it as `cursor` to get the next page.')),
});
