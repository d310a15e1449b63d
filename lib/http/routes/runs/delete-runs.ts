import Type from 'typebox';
import { WavetrainError } from '../../../common/errors.js';
import { RemovedRunsSchema } from '../../../common/wire/run.js';
import { listTenants, resolveTenant } from '../../auth/authenticate.js';
import { defineRoute, type Route } from '../../routing/route.js';
import { closedObject, optionalText } from '../../schemas/fields.js';
import { TenantId } from '../../schemas/request.js';
import type { HttpServices } from '../../services.js';
import { CONTENT_FILTERS, readLabelsQuery, readTime } from './list-runs.js';

/** So many runs are looked at by one request: each takes a part of a millisecond. */
const RUNS_PER_REQUEST = 500;

const DeleteQuery = closedObject({
  finished_before: optionalText({
    maxLength: 40,
    examples: ['2026-01-31T08:00:00Z'],
    description: 'Only runs that settled earlier: ISO 8601 with its zone.',
  }),
  pipeline_id: optionalText({ maxLength: 128, description: 'Only runs of this pipeline or plan.' }),
  status: Type.Optional(
    Type.Enum(['succeeded', 'failed', 'cancelled'], { description: 'Only runs with this end.' }),
  ),
  tenant_id: Type.Optional(TenantId),
  ...CONTENT_FILTERS,
  cursor: optionalText({ maxLength: 20, description: 'The `next_cursor` of the previous response.' }),
});

/** `DELETE /pipelines/runs` (D74) */
export function deleteRunsRoute({ registry, clock }: HttpServices): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/pipelines/runs',
    listsRuns: 'all',
    id: 'deleteRuns',
    tag: 'Runs',
    summary: 'Delete settled runs',
    description: `Needs one filter at least. A request looks at ${RUNS_PER_REQUEST} runs, the newest first: repeat it with \`next_cursor\` until that is null.`,
    access: 'run',
    query: DeleteQuery,
    responses: { 200: { description: 'How many were deleted.', schema: RemovedRunsSchema } },
    handle: async ({ query, caller }) => {
      const { finished_before, tenant_id, label, cursor, ...filters } = query;
      const { pipeline_id, status, text = '' } = filters;
      const named = [finished_before, pipeline_id, status, label?.[0]];
      if (text === '' && named.every((filter) => filter === undefined)) {
        throw new WavetrainError(
          'invalid_request',
          'name the runs to delete: by finished_before, pipeline_id, status, label or text',
        );
      }
      const before = readTime('finished_before', finished_before) ?? clock.now() + 1;
      const selected = {
        ...filters,
        cursor,
        labels: readLabelsQuery(label),
        tenants: listTenants(caller, tenant_id),
        limit: RUNS_PER_REQUEST,
      };
      return { body: await registry.removePage(selected, before, resolveTenant(caller)) };
    },
  });
}
