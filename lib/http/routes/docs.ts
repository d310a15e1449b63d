import Type from 'typebox';
import { DocsAssets } from '../docs-assets.js';
import { DOCS_ASSETS, docsPage, type DocsPage } from '../docs-page.js';
import { etagOfText, isKnown } from '../etag.js';
import { type Route, route } from '../route.js';

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
