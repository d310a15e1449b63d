import { expect } from 'chai';
import {
  HTTP_ERROR_CODES,
  MEANING_OF_CODE,
  STATUS_OF_CODE,
} from '../../../lib/http/errors/error-response.js';
import { EXAMPLE_YAML } from '../../../lib/http/routes/examples.js';
import type { Route } from '../../../lib/http/routing/route.js';
import {
  expectValid,
  find,
  type OpenApiDocument,
  type Operation,
  operationsOf,
} from '../../support/http/open-api-document.js';
import { routeTable } from '../../support/http/route-table.js';
import { serving, type Serving } from '../../support/http/serving.js';

describe('The examples and errors of the OpenAPI document', () => {
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

  it('shows an example of every body that is sent, which the schema takes', () => {
    for (const { name, operation } of operations) {
      for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
        const examples = media.example ?? Object.values(media.examples ?? {}).map(({ value }) => value);
        const all = Array.isArray(examples) ? examples : [examples];
        expect(all, `${name} ${type}`).to.not.be.empty;
        for (const example of all) expectValid(document, media.schema, example, `${name} ${type}`);
      }
    }
  });

  it('tells the errors of every operation by status, with examples in the one shape (D32)', () => {
    for (const { name, operation } of operations) {
      const route = routes.find(({ method, path }) => `${method} ${path}` === name);
      const codes = [...(route?.errors ?? []), 'internal', 'not_acceptable', 'foreign_host'] as const;
      for (const code of codes) {
        const answer = operation.responses[STATUS_OF_CODE[code]];
        expect(answer?.description, `${name} ${code}`).to.include(`\`${code}\`: `);
        const media = answer?.content?.['application/json'];
        expectValid(
          document,
          media?.schema ?? {},
          find(document, media?.examples?.[code]?.$ref ?? '#/')?.['value'],
          name,
        );
      }
      for (const [status, told] of Object.entries(route?.answers ?? {})) {
        expect(operation.responses[status]?.description, `${name} ${status}`).to.equal(told.description);
      }
    }
  });

  it('tells when it is worth to ask again', () => {
    for (const { name, operation } of operations) {
      const busy = operation.responses['503'];
      if (busy?.description.includes('queue_full')) expect(busy.headers, name).to.have.key('Retry-After');
    }
  });

  it('lists every error with its status and meaning, in the order of statuses', () => {
    const rows = document.info.description.split('\n').filter((line) => /^\| \d{3} \|/.test(line));
    expect(rows).to.have.members(
      HTTP_ERROR_CODES.map((code) => `| ${STATUS_OF_CODE[code]} | \`${code}\` | ${MEANING_OF_CODE[code]} |`),
    );
    expect(rows).to.deep.equal(rows.toSorted());
  });

  it('shows components by examples that they take', () => {
    const shown = Object.entries(document.components.schemas).filter(([, { examples }]) => examples);
    expect(shown.map(([title]) => title)).to.include.members([
      'RunRecord',
      'RunResult',
      'ValidationReport',
      'PlanOutcome',
      'PlanResult',
      'PlanReport',
    ]);
    for (const [title, { examples = [] }] of shown) {
      expectValid(document, { $ref: `#/components/schemas/${title}` }, examples[0], title);
    }
  });

  it('shows what the server answers to the example', async () => {
    const sent = document.paths['/pipelines/run']?.['post']?.requestBody?.content;
    const hello = sent?.['application/json']?.examples?.['hello']?.value as { pipeline: object };
    const shown = (title: string): unknown => document.components.schemas[title]?.examples?.[0];
    const pipeline = { pipeline: hello.pipeline };
    expect((await server.ask('POST', '/pipelines/run', hello)).body).to.deep.equal(shown('RunResult'));
    expect((await server.ask('POST', '/pipelines/validate', pipeline)).body).to.deep.equal(
      shown('ValidationReport'),
    );
    expect((await server.ask('POST', '/pipelines/graph', pipeline)).body).to.deep.equal(shown('Graph'));
    const yaml = { 'content-type': 'application/yaml' };
    expect((await server.ask('POST', '/pipelines/graph', EXAMPLE_YAML, yaml)).body).to.deep.equal(
      shown('Graph'),
    );
    const bad = EXAMPLE_YAML.replace('mock', 'mok');
    const { body } = await server.ask<{ problems: unknown[] }>('POST', '/pipelines/validate', bad, yaml);
    expect(body.problems).to.deep.equal([shown('Problem')]);
  });

  it('shows what the server answers to the example plan', async () => {
    const sent = document.paths['/plans/run']?.['post']?.requestBody?.content;
    const letter = sent?.['application/json']?.examples?.['letter']?.value as Record<string, unknown>;
    const { inputs: _, ...definition } = letter;
    const shown = (title: string): unknown => document.components.schemas[title]?.examples?.[0];
    expect((await server.ask('POST', '/plans/run', letter)).body).to.deep.equal(shown('PlanResult'));
    expect((await server.ask('POST', '/plans/validate', definition)).body).to.deep.equal(shown('PlanReport'));
    const yaml = { 'content-type': 'application/yaml' };
    const text = sent?.['application/yaml']?.example;
    expect((await server.ask('POST', '/plans/validate', text, yaml)).body).to.deep.equal(shown('PlanReport'));
  });
});
