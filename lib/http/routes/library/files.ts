import Type from 'typebox';
import { WavetrainError } from '../../../common/errors.js';
import { DefinitionTextSchema, SavedFileSchema } from '../../../common/wire/named-pipeline.js';
import type { SavedFile } from '../../../library/save-file.js';
import { formatEtag, IfNoneMatch, matchesEtag, NOT_MODIFIED } from '../../responses/conditional-get.js';
import { defineRoute, type Route, type RouteResult } from '../../routing/route.js';
import { PauseRequestSchema, SaveRequestSchema } from '../../schemas/library.js';
import type { HttpServices } from '../../services.js';
import { findTenant, NAMED_PATH, requireLibrary, TenantQuery } from './named-path.js';
import { optionalText } from '../../schemas/fields.js';

const FILE_PATH = { ...NAMED_PATH, path: `${NAMED_PATH.path}/file` };

/** Routes that read and save the files of the folder (D72). */
export function fileRoutes(services: HttpServices): Route[] {
  return [
    defineRoute({
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
          schema: DefinitionTextSchema,
          headers: { ETag: 'The version of the file. Send it as If-Match to replace it.' },
        },
        304: NOT_MODIFIED,
      },
      errors: ['pipeline_not_found'],
      handle: async ({ params: { id }, query, headers, caller }) => {
        const { library } = requireLibrary(services, id);
        const tenantId = findTenant(caller, query.tenant_id, id);
        const entry = await library.entry(tenantId, id);
        return withMemory(services, tenantId, async (hold) => {
          const body = await library.read(entry, hold);
          const etag = formatEtag(body.version);
          const isKnown = matchesEtag(etag, headers['if-none-match']);
          return { headers: { ETag: etag }, ...(isKnown ? { status: 304 } : { body }) };
        });
      },
    }),
    defineRoute({
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
      responses: SAVED,
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
        return toResult(saved);
      },
    }),
    pauseRoute(services, 'pause'),
    pauseRoute(services, 'resume'),
  ];
}

const SaveHeaders = Type.Object({
  'if-match': optionalText({
    maxLength: 200,
    description: 'The version that is replaced: the `ETag` of the file when it was opened.',
  }),
  'if-none-match': optionalText({
    maxLength: 10,
    description: '`*` creates a file, which must not be there yet.',
  }),
});

/** Holds memory of a tenant while something is done, as much as that asks for. */
async function withMemory<T>(
  { memory }: HttpServices,
  tenantId: string,
  work: (hold: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  let held = 0;
  const hold = (bytes: number): void => {
    memory.reserve(tenantId, bytes, 'response');
    held += bytes;
  };
  try {
    return await work(hold);
  } finally {
    memory.release(tenantId, held);
  }
}

const SAVED = {
  200: {
    description: 'The file was saved.',
    schema: SavedFileSchema,
    headers: { ETag: 'The version that was saved.' },
  },
};

function toResult(saved: SavedFile | undefined): RouteResult {
  // Nobody receives the response.
  if (saved === undefined) return {};
  return { headers: { ETag: formatEtag(saved.version) }, body: saved };
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

/** `POST /pipelines/{id}/pause` and `POST /pipelines/{id}/resume`. */
function pauseRoute(services: HttpServices, verb: 'pause' | 'resume'): Route {
  const isPaused = verb === 'pause';
  return defineRoute({
    ...NAMED_PATH,
    path: `${NAMED_PATH.path}/${verb}`,
    id: `${verb}Schedule`,
    summary: `${isPaused ? 'Pause' : 'Resume'} the schedule of a pipeline or a plan`,
    method: 'POST',
    tag: 'Library',
    description: `Only where \`SERVICE_PIPELINES_WRITABLE\` is true, for keys with the scopes \`edit\` and \`run\`. Writes \`paused: ${isPaused}\` into the file, and changes nothing else in it; a file that says so already stays as it is. One with errors, or without a schedule, is refused.`,
    access: 'edit',
    body: { schema: PauseRequestSchema, required: false, examples: { tenant: { tenant_id: 'default' } } },
    responses: SAVED,
    errors: ['pipeline_not_found', 'file_changed', 'queue_full', 'memory_full', 'shutting_down'],
    handle: async (request) => {
      const { params, body, caller } = request;
      const { id } = params;
      const { saving } = requireLibrary(services, id).library;
      saving.assertWritable();
      const tenantId = findTenant(caller, body?.tenant_id, id);
      const mayRun = caller.scopes.includes('run');
      const signal = request.disconnected();
      return withMemory(services, tenantId, async (hold) =>
        toResult(await saving.pause({ tenantId, id, isPaused, mayRun, signal, hold })),
      );
    },
  });
}
