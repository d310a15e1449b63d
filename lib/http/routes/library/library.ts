import Type from 'typebox';
import { WavetrainError } from '../../../common/errors.js';
import { pipelineNotFound } from '../../../library/read-definition.js';
import type { ShownPage, ShowStart } from '../../../library/library.js';
import { toNamedPipeline, toShownVersion } from '../../../library/named-pipeline.js';
import { canUseTenant, type Caller, listTenants, resolveTenant } from '../../auth/authenticate.js';
import {
  formatEtag,
  hashEtag,
  IfNoneMatch,
  matchesEtag,
  NOT_MODIFIED,
  returnIfModified,
} from '../../responses/conditional-get.js';
import { defineRoute, type Route } from '../../routing/route.js';
import {
  FileSchema,
  NamedDetailsSchema,
  NamedPageSchema,
  SavedFileSchema,
  SaveRequestSchema,
} from '../../schemas/library.js';
import { pageFields, TenantId } from '../../schemas/request.js';
import type { HttpServices, LibraryServices } from '../../services.js';
import { NAMED_PATH, requireLibrary } from './named-path.js';
import { namedRunRoutes } from './named-runs.js';
import { webhookRoute } from './webhooks.js';

const FILE_PATH = { ...NAMED_PATH, path: `${NAMED_PATH.path}/file` };

/** Routes about the folder of pipelines of the server (D69-D72). */
export function libraryRoutes(services: HttpServices): Route[] {
  return [
    list(services),
    details(services),
    ...namedRunRoutes(services, NAMED_PATH),
    webhookRoute(services, NAMED_PATH),
    readFile(services),
    saveFile(services),
  ];
}

/** The tenant of a request; pipelines of other tenants are reported as not found (D37). */
function findTenant(caller: Caller, requested: string | undefined, id: string): string {
  if (requested !== undefined && !canUseTenant(caller, requested)) throw pipelineNotFound(id);
  return resolveTenant(caller, requested);
}

function createShow({ scheduler, webhooks }: LibraryServices): ShowStart {
  return (entry) => ({ schedule: scheduler.show(entry), isWebhookReady: webhooks.isReady(entry) });
}

const ListQuery = Type.Object(
  {
    tenant_id: Type.Optional(TenantId),
    ...pageFields('Largest number on the page, which has fewer when they would exceed 1 MiB.'),
    cursor: Type.Optional(
      Type.String({ maxLength: 8192, description: 'The `next_cursor` of the previous page.' }),
    ),
  },
  { additionalProperties: false },
);

const ETAG = { ETag: 'Changes with the response. Send it as If-None-Match.' };

const NO_FOLDER: ShownPage = { shown: [], nextCursor: null };

function list({ library: services }: HttpServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/pipelines',
    id: 'listPipelines',
    tag: 'Library',
    summary: 'List the pipelines and plans that the server has in its folder',
    description:
      'Those of the files in `SERVICE_PIPELINES`, by tenant and id, each with the next times of its schedule and its last runs. A file with errors is listed with its problems; its last version without any stays in use.',
    access: 'read',
    query: ListQuery,
    headers: IfNoneMatch,
    responses: {
      200: { description: 'One page.', schema: NamedPageSchema, headers: ETAG },
      304: NOT_MODIFIED,
    },
    handle: async ({ query: { tenant_id, limit = 50, cursor }, headers, caller }) => {
      const tenants = listTenants(caller, tenant_id);
      const { shown, nextCursor } =
        services === undefined
          ? NO_FOLDER
          : await services.library.list({ tenants, limit, cursor }, createShow(services));
      const page = {
        enabled: services !== undefined,
        writable: services?.library.saving.isWritable ?? false,
        next_cursor: nextCursor,
      };
      const etag = hashEtag(JSON.stringify([page, shown.map(toShownVersion)]));
      return returnIfModified(headers, { headers: { ETag: etag } }, () => ({
        body: { ...page, pipelines: shown.map(toNamedPipeline) },
      }));
    },
  });
}

const TenantQuery = Type.Object({ tenant_id: Type.Optional(TenantId) }, { additionalProperties: false });

function details(services: HttpServices): Route {
  return defineRoute({
    ...NAMED_PATH,
    method: 'GET',
    id: 'getPipeline',
    tag: 'Library',
    summary: 'Get a pipeline or a plan of the server, with its graph',
    access: 'read',
    query: TenantQuery,
    headers: IfNoneMatch,
    responses: {
      200: { description: 'The pipeline or the plan.', schema: NamedDetailsSchema, headers: ETAG },
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
  });
}

function readFile(services: HttpServices): Route {
  return defineRoute({
    ...FILE_PATH,
    method: 'GET',
    id: 'getPipelineFile',
    tag: 'Library',
    summary: 'Get the file of a pipeline or a plan, as it is on the disk',
    access: 'read',
    query: TenantQuery,
    headers: IfNoneMatch,
    responses: {
      200: {
        description: 'The text.',
        schema: FileSchema,
        headers: { ETag: 'The version of the file. Send it as If-Match to replace it.' },
      },
      304: NOT_MODIFIED,
    },
    errors: ['pipeline_not_found'],
    handle: async ({ params: { id }, query, headers, caller }) => {
      const { library } = requireLibrary(services, id);
      const tenantId = findTenant(caller, query.tenant_id, id);
      const entry = await library.entry(tenantId, id);
      let held = 0;
      const hold = (bytes: number): void => {
        services.memory.reserve(tenantId, bytes, 'response');
        held += bytes;
      };
      try {
        const body = await library.read(entry, hold);
        const etag = formatEtag(body.version);
        const isKnown = matchesEtag(etag, headers['if-none-match']);
        return { headers: { ETag: etag }, ...(isKnown ? { status: 304 } : { body }) };
      } finally {
        services.memory.release(tenantId, held);
      }
    },
  });
}

const SaveHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'The version that is replaced: the `ETag` of the file when it was opened.',
    }),
  ),
  'if-none-match': Type.Optional(
    Type.String({ maxLength: 10, description: '`*` creates a file, which must not be there yet.' }),
  ),
});

function saveFile(services: HttpServices): Route {
  return defineRoute({
    ...FILE_PATH,
    method: 'PUT',
    id: 'savePipelineFile',
    tag: 'Library',
    summary: 'Save the file of a pipeline or a plan',
    description:
      'Only where `SERVICE_PIPELINES_WRITABLE` is true. Replaces the version that `If-Match` names, and no other; or creates a file with `If-None-Match: *`. A text with errors is saved too: `problems` lists them, and the last version without any stays in use. Its id cannot change. A new or changed `schedule` or `webhook` needs the scope `run` too.',
    access: 'edit',
    headers: SaveHeaders,
    body: {
      schema: SaveRequestSchema,
      examples: { hello: { text: 'pipeline: {id: hello, goal: greet, tasks: [{id: a, tool: mock}]}\n' } },
    },
    responses: {
      200: {
        description: 'The file was saved.',
        schema: SavedFileSchema,
        headers: { ETag: 'The version that was saved.' },
      },
    },
    errors: ['pipeline_not_found', 'file_changed', 'queue_full', 'shutting_down'],
    handle: async (request) => {
      const { params, headers, body, caller } = request;
      const { id } = params;
      const { saving } = requireLibrary(services, id).library;
      saving.assertWritable();
      const saved = await saving.save({
        tenantId: findTenant(caller, body?.tenant_id, id),
        id,
        text: body?.text ?? '',
        expected: readExpected(headers['if-match'], headers['if-none-match']),
        mayRun: caller.scopes.includes('run'),
        signal: request.disconnected(),
      });
      // Nobody receives the response.
      if (saved === undefined) return {};
      return { headers: { ETag: formatEtag(saved.version) }, body: saved };
    },
  });
}

/** The version that is replaced; null for a new file. */
function readExpected(ifMatch: string | undefined, ifNoneMatch: string | undefined): string | null {
  if (ifMatch === undefined && ifNoneMatch?.trim() === '*') return null;
  const [, version] = /^(?:W\/)?"?([\w-]+)"?$/.exec(ifMatch?.trim() ?? '') ?? [];
  if (version !== undefined && ifNoneMatch === undefined) return version;
  throw new WavetrainError(
    'invalid_request',
    'send If-Match with the ETag of the file that you have opened, or If-None-Match: * for a new file',
  );
}
