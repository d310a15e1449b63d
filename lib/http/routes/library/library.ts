import Type from 'typebox';
import type { ShownPage, ShowStart } from '../../../library/library.js';
import { toNamedPipeline, toShownVersion } from '../../../library/named-pipeline.js';
import { listTenants } from '../../auth/authenticate.js';
import {
  hashEtag,
  IfNoneMatch,
  matchesEtag,
  NOT_MODIFIED,
  returnIfModified,
} from '../../responses/conditional-get.js';
import { defineRoute, type Route } from '../../routing/route.js';
import { NamedPipelineDetailsSchema, NamedPipelinePageSchema } from '../../../common/wire/named-pipeline.js';
import { pageFields, TenantId } from '../../schemas/request.js';
import type { HttpServices, LibraryServices } from '../../services.js';
import { fileRoutes } from './files.js';
import { findTenant, NAMED_PATH, requireLibrary, TenantQuery } from './named-path.js';
import { namedRunRoutes } from './named-runs.js';
import { testRoute } from './tests.js';
import { webhookRoute } from './webhooks.js';
import { closedObject, optionalText } from '../../schemas/fields.js';

/** Routes about the folder of pipelines of the server (D69-D72). */
export function libraryRoutes(services: HttpServices): Route[] {
  const { library: folder } = services;
  return [
    defineRoute({
      method: 'GET',
      path: '/pipelines',
      listsRuns: 'known',
      id: 'listPipelines',
      tag: 'Library',
      summary: 'List the pipelines and plans that the server has in its folder',
      description:
        'Those of the files in `SERVICE_PIPELINES`, by tenant and id, each with the next times of its schedule and its last runs. A file with errors is listed with its problems; its last version without any stays in use.',
      access: 'read',
      query: ListQuery,
      headers: IfNoneMatch,
      responses: {
        200: { description: 'One page.', schema: NamedPipelinePageSchema, headers: ETAG },
        304: NOT_MODIFIED,
      },
      handle: async ({ query: { tenant_id, limit = 50, cursor }, headers, caller }) => {
        const tenants = listTenants(caller, tenant_id);
        const { shown, nextCursor } =
          folder === undefined
            ? NO_FOLDER
            : await folder.library.list({ tenants, limit, cursor }, createShow(folder));
        const writable = folder?.library.saving.isWritable ?? false;
        const page = {
          enabled: folder !== undefined,
          writable,
          pausable: writable && caller.scopes.includes('edit') && caller.scopes.includes('run'),
          next_cursor: nextCursor,
        };
        const etag = hashEtag(JSON.stringify([page, shown.map(toShownVersion)]));
        return returnIfModified(headers, { headers: { ETag: etag } }, () => ({
          body: { ...page, pipelines: shown.map(toNamedPipeline) },
        }));
      },
    }),
    defineRoute({
      ...NAMED_PATH,
      method: 'GET',
      listsRuns: 'known',
      id: 'getPipeline',
      tag: 'Library',
      summary: 'Get a pipeline or a plan of the server, with its graph',
      access: 'read',
      query: TenantQuery,
      headers: IfNoneMatch,
      responses: {
        200: { description: 'The pipeline or the plan.', schema: NamedPipelineDetailsSchema, headers: ETAG },
        304: NOT_MODIFIED,
      },
      errors: ['pipeline_not_found', 'shutting_down'],
      handle: async ({ params: { id }, query, headers, caller }) => {
        const named = requireLibrary(services, id);
        const tenantId = findTenant(caller, query.tenant_id, id);
        const entry = await named.library.entry(tenantId, id);
        const shown = await named.library.look(entry, createShow(named));
        const head = { headers: { ETag: hashEtag(toShownVersion(shown)) } };
        if (matchesEtag(head.headers.ETag, headers['if-none-match'])) return { ...head, status: 304 };
        return { ...head, body: { ...toNamedPipeline(shown), graph: await named.library.graph(entry) } };
      },
    }),
    ...namedRunRoutes(services),
    webhookRoute(services),
    ...fileRoutes(services),
    testRoute(services),
  ];
}

function createShow({ scheduler, webhooks }: LibraryServices): ShowStart {
  return (entry) => ({ schedule: scheduler.show(entry), isWebhookReady: webhooks.isReady(entry) });
}

const ListQuery = closedObject({
  tenant_id: Type.Optional(TenantId),
  ...pageFields('Largest number on the page, which has fewer when they would exceed 1 MiB.'),
  cursor: optionalText({ maxLength: 8192, description: 'The `next_cursor` of the previous page.' }),
});

const ETAG = { ETag: 'Changes with the response. Send it as If-None-Match.' };

const NO_FOLDER: ShownPage = { shown: [], nextCursor: null };
