import Type from 'typebox';
import { WavetrainError } from '../../common/errors.js';
import { IfNoneMatch, NOT_MODIFIED } from '../responses/conditional-get.js';
import { assetType, PAGE, PageFiles, pageRoute, revalidated } from '../routes/pages/page-files.js';
import { defineRoute, type Route } from '../routing/route.js';
import { pagePolicy } from '../security/browser-guard.js';
import { RunIdParams } from '../schemas/request.js';
import { closedObject } from '../schemas/fields.js';

/** Only this page may show another host, and only that of the official viewer. */
const PAGE_POLICY = pagePolicy({ 'img-src': 'data:', 'frame-src': 'https://stately.ai' });

/**
 * The page that bridges to the official Stately inspector, and its files. It is open as all pages are: it asks for a key
 * if the server needs one for the data of the run.
 */
export function statelyPageRoutes(files = new PageFiles('stately')): Route[] {
  return [
    pageRoute(
      files,
      {
        path: '/inspect/stately/{run_id}',
        id: 'statelyPage',
        summary: 'Show a run in the official Stately inspector',
        params: RunIdParams,
        query: closedObject({}),
      },
      PAGE_POLICY,
    ),
    defineRoute({
      ...PAGE,
      path: '/inspect/stately-assets/{file}',
      id: 'statelyPageFile',
      summary: 'Get a file of the page of the Stately inspector',
      params: Type.Object({ file: Type.String() }),
      headers: IfNoneMatch,
      responses: {
        200: { description: 'The file.', media: { 'text/css': '', 'text/javascript': '' } },
        304: NOT_MODIFIED,
      },
      errors: ['not_found'],
      handle: async ({ params, headers }) => {
        const type = assetType(params.file);
        if (type === undefined) throw new WavetrainError('not_found', 'there is no such file');
        return revalidated(headers, await files.read(params.file), { type });
      },
    }),
  ];
}
