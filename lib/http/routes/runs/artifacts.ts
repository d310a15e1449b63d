import Type from 'typebox';
import { errorCode, WavetrainError } from '../../../common/errors.js';
import type { Route } from '../../routing/route.js';
import { ArtifactPageSchema } from '../../../common/wire/run.js';
import { pageFields, RunIdParams } from '../../schemas/request.js';
import type { HttpServices } from '../../services.js';
import { closedObject, optionalText } from '../../schemas/fields.js';
import { defineRunRoute } from './run-route.js';

/** Routes that list and send the files of a run (D63). */
export function artifactRoutes({ queries }: HttpServices): Route[] {
  return [
    defineRunRoute(queries, {
      path: '/artifacts',
      id: 'listArtifacts',
      summary: 'List the files of a run, by name',
      description:
        'What tools have written, and bytes that they have returned. They are deleted with the run.',
      query: PageQuery,
      responses: { 200: { description: 'One page of files.', schema: ArtifactPageSchema } },
      handle: ({ query }, runId) => ({ body: queries.artifacts(runId).page(query) }),
    }),
    defineRunRoute(queries, {
      path: '/artifacts/{name}',
      id: 'getArtifact',
      summary: 'Download a file of a run',
      description:
        'The media type is the one that the tool has given. The headers keep a browser from showing the file in place of a page of this server.',
      params: ArtifactParams,
      responses: {
        200: {
          description: 'The content of the file.',
          media: { '*/*': 'the bytes of the file' },
          headers: { 'Content-Disposition': '`attachment`, with the name of the file.' },
        },
      },
      errors: ['artifact_not_found'],
      handle: async ({ params }, runId) => {
        const files = queries.artifacts(runId);
        const found = files.find(params.name);
        if (found === undefined) throw artifactNotFound(runId, params.name);
        const { name, media_type: type } = found.artifact;
        const file = await files.open(found).catch((error: unknown) => {
          const reason = errorCode(error) ?? 'it was replaced';
          throw artifactNotFound(runId, params.name, ` any more: it cannot be read (${reason})`);
        });
        return { file, type, headers: downloadHeaders(name) };
      },
    }),
  ];
}

const PageQuery = closedObject({
  ...pageFields('Largest number on the page.'),
  cursor: optionalText({ maxLength: 256, description: 'The `next_cursor` of the previous page.' }),
});

const ArtifactParams = Type.Object({
  ...RunIdParams.properties,
  name: Type.String({ description: 'The name of the file, as in the list.' }),
});

function artifactNotFound(runId: string, name: string, reason = ''): WavetrainError {
  return new WavetrainError('artifact_not_found', `run ${runId} has no file "${name}"${reason}`);
}

/** A file that a tool has written must not act in the browser as a page of this server. */
function downloadHeaders(name: string): Record<string, string> {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'Content-Disposition': `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
  };
}
