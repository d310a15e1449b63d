import Type, { type Static } from 'typebox';
import { StatisticsPageSchema, StatisticsPeriodSchema } from '../../../common/wire/statistics.js';
import type { StatisticsRequest } from '../../../runs/store/statistics/statistics-request.js';
import { type Caller, listTenants, resolveTenant } from '../../auth/authenticate.js';
import { defineRoute, type Route } from '../../routing/route.js';
import { closedObject, optionalInteger, optionalText } from '../../schemas/fields.js';
import { TenantId } from '../../schemas/request.js';
import type { HttpServices } from '../../services.js';
import { readTime } from './list-runs.js';

const TIME = { maxLength: 40, examples: ['2026-01-31T00:00:00Z'] };

const DEFAULT_LIMIT = 1000;

const Query = closedObject({
  from: optionalText({
    ...TIME,
    description:
      'The beginning of the time that is counted: ISO 8601 with its zone. Rounded down to an hour, with `by=day` to a day of UTC. Default: 7 days, with `by=hour` 24 hours, before `to`.',
  }),
  to: optionalText({ ...TIME, description: 'Its end, written like `from` and rounded up. Default: now.' }),
  by: Type.Optional({ ...StatisticsPeriodSchema, default: 'day' }),
  pipeline_id: optionalText({ maxLength: 128, description: 'Only runs of this pipeline or plan.' }),
  tenant_id: Type.Optional(TenantId),
  limit: optionalInteger({
    minimum: 1,
    maximum: 5000,
    default: DEFAULT_LIMIT,
    description: 'Largest number of rows on the page.',
  }),
  cursor: optionalText({ maxLength: 512, description: 'The `next_cursor` of the previous page.' }),
});

/** `GET /pipelines/stats` (D35) */
export function statisticsRoute({ queries }: HttpServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/pipelines/stats',
    id: 'getStatistics',
    tag: 'Runs',
    summary: 'Count the runs of each pipeline by time',
    description:
      'Counts runs by the time at which they have finished, with the durations that half and 95 % of them took at most, and their cost. With a store, runs that were deleted count for 400 days; without one, only runs that are kept do.',
    access: 'read',
    query: Query,
    responses: { 200: { description: 'One page of rows.', schema: StatisticsPageSchema } },
    handle: async ({ query, caller }) => ({
      body: await queries.statistics(readQuery(query, caller), resolveTenant(caller)),
    }),
  });
}

/** @throws WavetrainError `invalid_request` for a malformed time */
function readQuery(query: Static<typeof Query>, caller: Caller): StatisticsRequest {
  const { by = 'day', tenant_id, pipeline_id, limit = DEFAULT_LIMIT, cursor } = query;
  const fromMs = readTime('from', query.from);
  const toMs = readTime('to', query.to);
  return { tenants: listTenants(caller, tenant_id), pipeline_id, by, fromMs, toMs, limit, cursor };
}
