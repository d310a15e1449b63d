import { pipelineJsonSchema, planJsonSchema } from '../../../definition/schema/json-schema.js';
import { createOpenApiDocument } from '../../openapi/open-api.js';
import { DOCS_ASSETS_PATH, renderDocsPage } from '../../openapi/swagger-ui.js';
import { defineRoute, type Route } from '../../routing/route.js';
import { anyJsonObject } from '../../../common/wire/shape.js';
import type { Catalog } from '../../../tools/catalog.js';
import type { HttpServices } from '../../services.js';
import { assetRoute, PAGE, PageFiles, revalidated } from './page-files.js';
import { hashEtag, IfNoneMatch, NOT_MODIFIED, returnIfModified } from '../../responses/conditional-get.js';

/** The documentation for people, which loads nothing from other hosts (D39). @param folder of Swagger UI */
export function docsRoutes(folder?: string): Route[] {
  // The build copies Swagger UI, with its version, into `dist`.
  const files = new PageFiles('swagger-ui', folder);
  const named = { path: DOCS_ASSETS_PATH, id: 'docsAsset', summary: 'Get a file of Swagger UI' };
  let rendered: ReturnType<typeof renderDocsPage> | undefined;
  const page = defineRoute({
    ...PAGE,
    path: '/docs',
    id: 'docs',
    summary: 'Read this document, and send requests from it',
    headers: IfNoneMatch,
    responses: {
      200: { description: 'Swagger UI.', media: { 'text/html': '<!DOCTYPE html>' } },
      304: NOT_MODIFIED,
    },
    errors: ['not_found'],
    handle: async ({ headers: requestHeaders }) => {
      rendered ??= renderDocsPage(await files.version());
      const { html, policy } = await rendered;
      return revalidated(requestHeaders, html, { policy });
    },
  });
  return [page, assetRoute(files, named, 'image/png')];
}

/** The documents for programs. `routes` returns every route of the server, including these. */
export function documentRoutes(
  { version, checker }: Pick<HttpServices, 'version'> & { readonly checker: { readonly catalog: Catalog } },
  routes: () => readonly Route[],
): Route[] {
  return [
    document({
      path: '/openapi.json',
      id: 'getOpenApi',
      summary: 'Get this document',
      description: 'An OpenAPI 3.1 document.',
      access: 'open',
      create: () => createOpenApiDocument(routes(), version),
    }),
    document({
      path: '/schemas/pipeline.json',
      id: 'getPipelineSchema',
      summary: 'Get the JSON Schema of pipeline files, for editors',
      description: 'A JSON Schema, with the names and inputs of the tools of this server.',
      access: 'any',
      create: () => pipelineJsonSchema(checker.catalog.taskNames()),
      madeOf: () => checker.catalog,
    }),
    document({
      path: '/schemas/plan.json',
      id: 'getPlanSchema',
      summary: 'Get the JSON Schema of plan files, for editors',
      description: 'A JSON Schema, with the names and inputs of the tools of this server.',
      access: 'any',
      create: () => planJsonSchema(checker.catalog.taskNames()),
      madeOf: () => checker.catalog,
    }),
  ];
}

const JSON_TYPE = 'application/json; charset=utf-8';

interface DocumentDeclaration extends Pick<Route, 'path' | 'id' | 'summary' | 'access'> {
  readonly description: string;
  readonly create: () => Record<string, unknown>;
  /** A value that is another one when the document must be created again. Default: it never must. */
  readonly madeOf?: () => unknown;
}

/** A document that is created at the first request, and shared by all responses. */
function document({ path, id, summary, description, access, create, madeOf }: DocumentDeclaration): Route {
  /** Shared by all responses. */
  let content:
    | {
        readonly source: unknown;
        readonly bytes: Buffer;
        readonly headers: Record<'ETag' | 'Cache-Control', string>;
      }
    | undefined;
  return defineRoute({
    method: 'GET',
    path,
    id,
    tag: 'Documents',
    summary,
    access,
    headers: IfNoneMatch,
    responses: {
      200: {
        description,
        schema: anyJsonObject(description),
        headers: {
          ETag: 'Identifies the version. Send it as If-None-Match.',
          'Cache-Control': '`no-cache`: revalidate before each use.',
        },
      },
      304: NOT_MODIFIED,
    },
    handle: ({ headers: requestHeaders }) => {
      const source = madeOf?.();
      if (content === undefined || content.source !== source) {
        const bytes = Buffer.from(JSON.stringify(create()));
        content = { source, bytes, headers: { ETag: hashEtag(bytes), 'Cache-Control': 'no-cache' } };
      }
      const { bytes, headers } = content;
      return returnIfModified(requestHeaders, { headers }, () => ({ bytes, type: JSON_TYPE }));
    },
  });
}
