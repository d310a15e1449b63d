import Type, { type Static } from 'typebox';
import { parseIsoTime } from '../../../common/clock.js';
import { WavetrainError } from '../../../common/errors.js';
import { LABEL_LIMITS, LISTING_LIMITS } from '../../../common/limits.js';
import type { RunQuery } from '../../../runs/views/run-query.js';
import { readLabel } from '../../../common/wire/labels.js';
import { readStartedBy, STARTED_BY_KINDS, type StartedByFilter } from '../../../common/wire/started-by.js';
import { type Caller, listTenants, resolveTenant } from '../../auth/authenticate.js';
import { hashEtag, IfNoneMatch, matchesEtag, NOT_MODIFIED } from '../../responses/conditional-get.js';
import { defineRoute, type Route } from '../../routing/route.js';
import { pageFields, TenantId } from '../../schemas/request.js';
import { RunPageSchema, RunStatusFilterSchema, RunTriggerSchema } from '../../../common/wire/run.js';
import type { HttpServices } from '../../services.js';
import { closedObject, optionalBoolean, optionalText } from '../../schemas/fields.js';

const CREATED = {
  maxLength: 40,
  examples: ['2026-01-31T08:00:00Z'],
};

/** Filters by what runs say of themselves. */
export const CONTENT_FILTERS = {
  label: Type.Optional(
    Type.Array(Type.String({ maxLength: LABEL_LIMITS.textLength }), {
      maxItems: LABEL_LIMITS.most,
      description:
        'Only runs with this label: its name, a colon and its value. May be repeated: a run must have all of them.',
      examples: [['team:billing']],
    }),
  ),
  text: optionalText({
    maxLength: LISTING_LIMITS.textLength,
    description:
      'Only runs with this text in the id of their pipeline, their goal, their error or a label (as in `team:billing`), in capital or small letters, or at the beginning or end of their id, from six characters on. Of a goal or an error, the first 2,000 characters count.',
  }),
};

const ListQuery = closedObject({
  status: Type.Optional(RunStatusFilterSchema),
  tenant_id: Type.Optional(TenantId),
  pipeline_id: optionalText({ maxLength: 128, description: 'Only runs of this pipeline or plan.' }),
  trigger: Type.Optional(RunTriggerSchema),
  started_by: optionalText({
    maxLength: 300,
    description: `Only runs that were started so: ${STARTED_BY_KINDS.join(', ')}; with a name, as in \`key:ci\`.`,
    examples: ['key:ci'],
  }),
  id: optionalText({
    pattern: '^[0-9a-fA-F-]{4,36}$',
    description: 'Only runs whose id begins or ends with these characters, at least four.',
    examples: ['3f9c1a'],
  }),
  ...CONTENT_FILTERS,
  created_after: optionalText({
    ...CREATED,
    description: 'Only runs that were submitted at this time or later: ISO 8601 with its zone.',
  }),
  created_before: optionalText({
    ...CREATED,
    description: 'Only runs that were submitted earlier: ISO 8601 with its zone.',
  }),
  counts: optionalBoolean({
    default: false,
    description:
      'Also return `counts`, the runs by status on all pages together, `queue`, what queued runs wait for, and `retention`, since when runs are kept.',
  }),
  ...pageFields('Largest number of runs on the page, which has fewer when they would exceed 1 MiB.'),
});

/** `GET /pipelines/runs` (D35) */
export function listRunsRoute({ queries }: HttpServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/pipelines/runs',
    listsRuns: 'known',
    id: 'listRuns',
    tag: 'Runs',
    summary: 'List runs, newest first',
    description:
      'Polling is cheap with the `ETag` of the last response as `If-None-Match`: as long as no run may have changed, the response is 304 without a body.',
    access: 'read',
    query: ListQuery,
    headers: IfNoneMatch,
    responses: {
      200: {
        description: 'One page of runs.',
        schema: RunPageSchema,
        headers: { ETag: 'Changes whenever the page may. Send it as If-None-Match.' },
      },
      304: NOT_MODIFIED,
    },
    handle: async ({ query, headers, caller }) => {
      const runs = readQuery(query, caller);
      const head = { headers: { ETag: hashEtag(JSON.stringify([query, queries.listVersion(runs)])) } };
      if (matchesEtag(head.headers.ETag, headers['if-none-match'])) return { ...head, status: 304 };
      return { ...head, body: await queries.listInTurns(runs, resolveTenant(caller)) };
    },
  });
}

/** @throws WavetrainError `invalid_request` for a malformed time, an unknown kind in `started_by`, and a label without a colon */
function readQuery(query: Static<typeof ListQuery>, caller: Caller): RunQuery {
  const { tenant_id, limit = 50, started_by, label, created_after, created_before, ...others } = query;
  return {
    ...others,
    limit,
    tenants: listTenants(caller, tenant_id),
    startedBy: started_by === undefined ? undefined : readStartedByQuery(started_by),
    labels: readLabelsQuery(label),
    createdAfterMs: readTime('created_after', created_after),
    createdBeforeMs: readTime('created_before', created_before),
  };
}

function readStartedByQuery(text: string): StartedByFilter {
  const filter = readStartedBy(text);
  if (filter !== undefined) return filter;
  throw new WavetrainError(
    'invalid_request',
    `query parameter "started_by" must be one of ${STARTED_BY_KINDS.join(', ')}, or such a word with a name, as in key:ci`,
  );
}

/** @throws WavetrainError `invalid_request` for a label without a colon */
export function readLabelsQuery(labels: readonly string[] | undefined): readonly string[] | undefined {
  if (labels === undefined || labels.every((text) => readLabel(text) !== undefined)) return labels;
  throw new WavetrainError(
    'invalid_request',
    'query parameter "label" must be the name of a label, a colon and its value, as in team:billing',
  );
}

/** @throws WavetrainError `invalid_request` for a text that is no time */
export function readTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseIsoTime(text);
  if (ms !== undefined) return ms;
  throw new WavetrainError(
    'invalid_request',
    `query parameter "${name}" must be an ISO 8601 time with its zone, such as 2026-01-31T08:00:00Z; in a URL, + is written as %2B`,
  );
}
