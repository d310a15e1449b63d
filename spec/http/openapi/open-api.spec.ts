import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { openApi } from '../../../lib/http/openapi/open-api.js';
import type { Route } from '../../../lib/http/routing/route.js';
import {
  find,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  referencesIn,
} from '../../support/http/open-api-document.js';
import { routeTable } from '../../support/http/route-table.js';
import { serving, type Serving } from '../../support/http/serving.js';

describe('The OpenAPI document', () => {
  let server: Serving;
  let document: OpenApiDocument;
  let routes: Route[];
  let operations: { name: string; operation: Operation }[];

  before(async () => {
    server = await serving();
    document = (await server.ask<OpenApiDocument>('GET', '/openapi.json')).body;
    routes = routeTable();
    operations = operationsOf(document);
  });

  after(() => server.close(0));

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...structuredClone(document) });
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
    expect(document).not.to.have.property('jsonSchemaDialect');
  });

  it('is what the table says', () => {
    expect(document).to.deep.equal(JSON.parse(JSON.stringify(openApi(routes, '0.0.0-spec'))));
  });

  it('has every route that is not a page, and nothing else', () => {
    const declared = routes.filter(({ isPage }) => !isPage).map(({ method, path }) => `${method} ${path}`);
    expect(operations.map(({ name }) => name)).to.have.members(declared);
    expect(routes.filter(({ isPage }) => isPage).map(({ path }) => path)).to.deep.equal([
      '/',
      '/docs',
      '/docs-assets/{version}/{file}',
    ]);
  });

  it('names every operation once, and says what it does', () => {
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

  it('refers only to what there is', () => {
    const references = referencesIn(document);
    expect(references).to.not.be.empty;
    expect(references.filter((reference) => find(document, reference) === undefined)).to.deep.equal([]);
  });

  it('describes parameters, and every part of a path among them', () => {
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

  it('says in words that generators of clients know what may be null, and what is a map', () => {
    const text = JSON.stringify(document.components.schemas);
    expect(text).to.include('"type":["string","null"]');
    expect(text).to.not.include('patternProperties');
    expect(document.components.schemas['RunStatus']).to.include({ type: 'string' });
    const unions = [...text.matchAll(/"anyOf":\[\{"type":"\w+"[^[]*?\{"type":"null"\}\]/g)];
    expect(unions.map(([union]) => union)).to.deep.equal([]);
  });

  it('asks for a key wherever one is needed, and says which scope', () => {
    for (const route of routes.filter(({ isPage }) => !isPage)) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      const scopes = route.access === 'any' ? [] : [route.access];
      const asked = [{}, { bearer: scopes }, { apiKey: scopes }];
      expect(operation?.security).to.deep.equal(route.access === 'open' ? [] : asked);
    }
  });

  it('is kept by clients, and asked for again', async () => {
    const { headers } = await server.ask('GET', '/openapi.json');
    expect(headers.get('cache-control')).to.equal('no-cache');
    const known = headers.get('etag') ?? '';
    expect(known).to.match(/^"[\w-]{43}"$/);
    const again = await server.ask('GET', '/openapi.json', undefined, { 'if-none-match': `"x", W/${known}` });
    expect(again.status).to.equal(304);
    expect(again.body).to.equal(undefined);
    const other = await server.ask('GET', '/openapi.json', undefined, { 'if-none-match': '"x"' });
    expect(other.status).to.equal(200);
  });
});
