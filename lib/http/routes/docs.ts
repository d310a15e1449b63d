import Type from 'typebox';
import { pipelineJsonSchema, planJsonSchema } from '../../definition/schema/json-schema.js';
import { openApi } from '../openapi/open-api.js';
import { DOCS_ASSETS, DocsAssets, docsPage, type DocsPage } from '../openapi/swagger-ui.js';
import { type Route, route } from '../routing/route.js';
import { jsonObject } from '../schemas/wire.js';
import { etagOfText, isKnown } from './etag.js';

const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** The documentation for people, with no network (D39). */
export function docsRoutes(assets = new DocsAssets()): Route[] {
  return [home(), page(assets), asset(assets)];
}

function home(): Route {
  return route({
    method: 'GET',
    path: '/',
    id: 'home',
    tag: 'Documents',
    summary: 'Leads to the documentation',
    isPage: true,
    access: 'open',
    answers: {
      302: {
        description: 'The documentation is at /docs.',
        media: { 'text/html': '<a href="/docs">/docs</a>' },
        headers: { Location: '/docs' },
      },
    },
    handle: () => ({ text: '<a href="/docs">/docs</a>', headers: { Location: '/docs' } }),
  });
}

function page(assets: DocsAssets): Route {
  let made: Promise<DocsPage> | undefined;
  return route({
    method: 'GET',
    path: '/docs',
    id: 'docs',
    tag: 'Documents',
    summary: 'Shows this document, and tries it out',
    isPage: true,
    access: 'open',
    headers: Type.Object({ 'if-none-match': Type.Optional(Type.String()) }),
    answers: {
      200: { description: 'Swagger UI.', media: { 'text/html': '<!DOCTYPE html>' } },
      304: { description: 'The page is the one that is known already.' },
    },
    errors: ['not_found'],
    handle: async ({ headers: { 'if-none-match': known } }) => {
      const version = assets.version();
      made ??= docsPage(version);
      const { html, policy } = await made;
      const etag = etagOfText(html);
      const headers = { ETag: etag, 'Cache-Control': 'no-cache', 'Content-Security-Policy': policy };
      return isKnown(etag, known) ? { status: 304, headers } : { text: html, headers };
    },
  });
}

function asset(assets: DocsAssets): Route {
  return route({
    method: 'GET',
    path: `${DOCS_ASSETS}/{version}/{file}`,
    id: 'docsAsset',
    tag: 'Documents',
    summary: 'A file of Swagger UI',
    isPage: true,
    access: 'open',
    params: Type.Object({ version: Type.String(), file: Type.String() }),
    answers: {
      200: {
        description: 'The file.',
        media: { 'text/css': '', 'text/javascript': '', 'image/png': '' },
      },
    },
    errors: ['not_found'],
    handle: async ({ params: { version, file } }) => ({
      ...(await assets.read(version, file)),
      headers: FOR_EVER,
    }),
  });
}

/** What the server says about itself. `routes` answers all of them, these included. */
export function documentRoutes(version: string, routes: () => readonly Route[]): Route[] {
  return [
    document('/openapi.json', 'getOpenApi', 'This document', 'An OpenAPI 3.1 document.', () =>
      openApi(routes(), version),
    ),
    document(
      '/schemas/pipeline.json',
      'getPipelineSchema',
      'The JSON Schema of pipeline files, for editors',
      'A JSON Schema.',
      pipelineJsonSchema,
    ),
    document(
      '/schemas/plan.json',
      'getPlanSchema',
      'The JSON Schema of plan files, for editors',
      'A JSON Schema.',
      planJsonSchema,
    ),
  ];
}

/** A document that stays the same as long as the server runs. */
function document(
  path: string,
  id: string,
  summary: string,
  description: string,
  make: () => Record<string, unknown>,
): Route {
  let made: { body: Record<string, unknown>; etag: string } | undefined;
  return route({
    method: 'GET',
    path,
    id,
    tag: 'Documents',
    summary,
    access: 'open',
    headers: CONDITIONAL,
    answers: {
      200: {
        description,
        schema: jsonObject(description),
        headers: { ETag: 'Give it back as If-None-Match.', 'Cache-Control': '`no-cache`: ask again.' },
      },
      304: { description: 'The document is the one that is known already.' },
    },
    handle: ({ headers: { 'if-none-match': known } }) => {
      made ??= withEtag(make());
      const headers = { ETag: made.etag, 'Cache-Control': 'no-cache' };
      return isKnown(made.etag, known) ? { status: 304, headers } : { body: made.body, headers };
    },
  });
}

const CONDITIONAL = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'The ETag of the document that is known already.' }),
  ),
});

function withEtag(body: Record<string, unknown>): { body: Record<string, unknown>; etag: string } {
  return { body, etag: etagOfText(JSON.stringify(body)) };
}
