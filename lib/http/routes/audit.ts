import Type, { type Static } from 'typebox';
import {
  AUDIT_ACTIONS,
  AUDIT_OBJECT_KINDS,
  AUDIT_RESULTS,
  AUDIT_WHO_KINDS,
} from '../../common/wire/audit-kinds.js';
import { AuditPageSchema } from '../../common/wire/audit.js';
import type { AuditRequest } from '../../audit/audit-trail.js';
import { WavetrainError } from '../../common/errors.js';
import { resolveTenant } from '../auth/authenticate.js';
import { defineRoute, type Route } from '../routing/route.js';
import { closedObject, optionalText } from '../schemas/fields.js';
import { pageFields, TenantId } from '../schemas/request.js';
import { readKindAndName } from '../../common/wire/started-by.js';
import type { HttpServices } from '../services.js';
import { readTime } from './runs/list-runs.js';

const TIME = { maxLength: 40, examples: ['2026-01-31T08:00:00Z'] };

const Query = closedObject({
  who: optionalText({
    maxLength: 300,
    description: `Only entries of these: ${AUDIT_WHO_KINDS.join(', ')}; with a name, as in \`key:ci\`.`,
    examples: ['key:ci'],
  }),
  action: Type.Optional(Type.Enum([...AUDIT_ACTIONS], { description: 'Only entries of this action.' })),
  object: optionalText({
    maxLength: 300,
    description: `Only entries about these: ${AUDIT_OBJECT_KINDS.join(', ')}; with an id, as in \`pipeline:hello\`.`,
    examples: ['pipeline:hello'],
  }),
  result: Type.Optional(Type.Enum([...AUDIT_RESULTS], { description: 'Only entries with this result.' })),
  tenant_id: Type.Optional(TenantId),
  from: optionalText({ ...TIME, description: 'Only entries of this time or later: ISO 8601 with its zone.' }),
  to: optionalText({ ...TIME, description: 'Only earlier entries.' }),
  ...pageFields('Largest number of entries on the page, which may have fewer.'),
});

/** `GET /admin/audit` (D95) */
export function auditRoute({ audit }: HttpServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/admin/audit',
    id: 'listAudit',
    tag: 'Server',
    summary: 'List who did what to which object, newest first',
    description:
      'The entries of all tenants, for any key with the scope `admin`. When few of many entries match, a page may have fewer entries than asked for, or none: go on while there is a `next_cursor`.',
    access: 'admin',
    query: Query,
    responses: { 200: { description: 'One page of entries.', schema: AuditPageSchema } },
    errors: ['queue_full'],
    handle: async ({ query, caller }) => ({
      body: await audit.page(readQuery(query), resolveTenant(caller)),
    }),
  });
}

/** @throws WavetrainError `invalid_request` for an unknown kind, a malformed time or a cursor of something else */
function readQuery(query: Static<typeof Query>): AuditRequest {
  const { who, object, from, to, tenant_id: tenantId, cursor, limit = 50, ...filters } = query;
  if (cursor !== undefined && !/^\d{1,16}$/.test(cursor)) {
    throw new WavetrainError(
      'invalid_request',
      'query parameter "cursor" must be the "next_cursor" of a page of this list',
    );
  }
  const about = readFilter('object', object, AUDIT_OBJECT_KINDS);
  return {
    ...filters,
    tenantId,
    who: readFilter('who', who, AUDIT_WHO_KINDS),
    object: about && { kind: about.kind, id: about.name },
    fromMs: readTime('from', from),
    toMs: readTime('to', to),
    limit,
    cursor,
  };
}

/** Reads a filter such as `key` or `key:ci`. @throws WavetrainError `invalid_request` for a kind that does not exist */
function readFilter<K extends string>(
  parameter: string,
  text: string | undefined,
  kinds: readonly K[],
): ReturnType<typeof readKindAndName<K>> {
  if (text === undefined) return undefined;
  const filter = readKindAndName(text, kinds);
  if (filter !== undefined) return filter;
  throw new WavetrainError(
    'invalid_request',
    `query parameter "${parameter}" must be one of ${kinds.join(', ')}, or such a word with a name, as in ${kinds[0]}:NAME`,
  );
}
