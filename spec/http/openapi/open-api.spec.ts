import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { createOpenApiDocument } from '../../../lib/http/openapi/open-api.js';
import type { Route } from '../../../lib/http/routing/route.js';
import {
  resolveReference,
  type OpenApiDocument,
  type Operation,
  listOperations,
  findReferences,
} from '../../support/http/open-api-document.js';
import { createRouteTable } from '../../support/http/route-table.js';
import { suiteServer } from '../support/suite-server.js';

describe('The OpenAPI document', () => {
  const server = suiteServer();
  let document: OpenApiDocument;
  let routes: Route[];
  let operations: { name: string; operation: Operation }[];

  before(async () => {
    document = (await server.request<OpenApiDocument>('GET', '/openapi.json')).body;
    routes = createRouteTable();
    operations = listOperations(document);
  });

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...structuredClone(document) });
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
    expect(document).not.to.have.property('jsonSchemaDialect');
  });

  it('is generated from the route table', () => {
    expect(document).to.deep.equal(JSON.parse(JSON.stringify(createOpenApiDocument(routes, '0.0.0-spec'))));
  });

  it('documents every route that is not a page, and nothing else', () => {
    const declared = routes.filter(({ isPage }) => !isPage).map(({ method, path }) => `${method} ${path}`);
    expect(operations.map(({ name }) => name)).to.have.members(declared);
    expect(routes.filter(({ isPage }) => isPage).map(({ path }) => path)).to.deep.equal([
      '/docs',
      '/docs-assets/{version}/{file}',
      '/inspect/stately/{run_id}',
      '/inspect/stately-assets/{file}',
      '/inspect/statecharts.json',
      '/inspect/assets/{version}/{file}',
      '/inspect',
      '/inspect/{run_id}',
      '/',
      '/runs',
      '/runs/{run_id}',
      '/library',
      '/edit',
      '/audit',
      '/assets/{version}/{file}',
    ]);
  });

  it('gives every operation a unique id and a summary', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const { name, operation } of operations) {
      expect(operation.summary, name).to.match(/^[A-Z].{5,}[^.]$/);
      expect(
        document.tags.map((tag) => tag.name),
        name,
      ).to.include(operation.tags[0]);
    }
    expect(document.tags.filter(({ description }) => !description)).to.deep.equal([]);
  });

  it('has no dangling references', () => {
    const references = findReferences(document);
    expect(references).to.not.be.empty;
    expect(
      references.filter((reference) => resolveReference(document, reference) === undefined),
    ).to.deep.equal([]);
  });

  it('describes every parameter, including all path parameters', () => {
    for (const { name, operation } of operations) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, part]) => part);
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
      expect(
        declared.map((parameter) => parameter.name),
        name,
      ).to.deep.equal(inPath);
      const silent = operation.parameters.filter(({ description }) => !description);
      expect(silent.map((parameter) => `${name} ${parameter.name}`)).to.deep.equal([]);
    }
  });

  it('writes nullable fields and maps in keywords that client generators understand', () => {
    const text = JSON.stringify(document.components.schemas);
    expect(text).to.include('"type":["string","null"]');
    expect(text).to.not.include('patternProperties');
    expect(document.components.schemas['RunStatus']).to.include({ type: 'string' });
    const unions = [...text.matchAll(/"anyOf":\[\{"type":"\w+"[^[]*?\{"type":"null"\}\]/g)];
    expect(unions.map(([union]) => union)).to.deep.equal([]);
  });

  it('documents the API key and scope of every operation', () => {
    for (const route of routes.filter(({ isPage }) => !isPage)) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      const scopes = route.access === 'any' ? [] : [route.access];
      const alternatives = [{}, { bearer: scopes }, { apiKey: scopes }];
      expect(operation?.security).to.deep.equal(route.access === 'open' ? [] : alternatives);
    }
  });

  it('documents memory_full for every operation that needs a key or has a body, which takes memory (D25)', () => {
    for (const { access, body, method, path } of routes.filter(({ isPage }) => !isPage)) {
      const { responses = {} } = document.paths[path]?.[method.toLowerCase()] ?? {};
      const codes = Object.keys(responses[503]?.content?.['application/json']?.examples ?? {});
      expect(codes.includes('memory_full'), `${method} ${path}`).to.equal(
        access !== 'open' || body !== undefined,
      );
    }
  });

  it('can be cached and revalidated by its ETag', async () => {
    const { headers } = await server.request('GET', '/openapi.json');
    expect(headers.get('cache-control')).to.equal('no-cache');
    const etag = headers.get('etag') ?? '';
    expect(etag).to.match(/^"[\w-]{43}"$/);
    const again = await server.request('GET', '/openapi.json', undefined, {
      'if-none-match': `"x", W/${etag}`,
    });
    expect(again.status).to.equal(304);
    expect(again.body).to.equal(undefined);
    const other = await server.request('GET', '/openapi.json', undefined, { 'if-none-match': '"x"' });
    expect(other.status).to.equal(200);
  });
});
