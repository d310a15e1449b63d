import { expect } from 'chai';
import { ERROR_STATUSES } from '../../../lib/http/errors/error-statuses.js';
import { EXAMPLE_YAML } from '../../../lib/http/routes/examples.js';
import type { Route } from '../../../lib/http/routing/route.js';
import {
  expectValid,
  resolveReference,
  type OpenApiDocument,
  type Operation,
  listOperations,
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

  it('has a valid example of every request body', () => {
    for (const { name, operation } of operations) {
      for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
        const examples = media.example ?? Object.values(media.examples ?? {}).map(({ value }) => value);
        const all = Array.isArray(examples) ? examples : [examples];
        expect(all, `${name} ${type}`).to.not.be.empty;
        for (const example of all) expectValid(document, media.schema, example, `${name} ${type}`);
      }
    }
  });

  it('documents the errors of every operation by status, with valid examples (D32)', () => {
    for (const { name, operation } of operations) {
      const route = routes.find(({ method, path }) => `${method} ${path}` === name);
      const codes = [...(route?.errors ?? []), 'internal', 'not_acceptable', 'foreign_host'] as const;
      for (const code of codes) {
        const response = operation.responses[ERROR_STATUSES[code].status];
        expect(response?.description, `${name} ${code}`).to.include(`\`${code}\`: `);
        const media = response?.content?.['application/json'];
        expectValid(
          document,
          media?.schema ?? {},
          resolveReference(document, media?.examples?.[code]?.$ref ?? '#/')?.['value'],
          name,
        );
      }
      for (const [status, declared] of Object.entries(route?.responses ?? {})) {
        expect(operation.responses[status]?.description, `${name} ${status}`).to.equal(declared.description);
      }
    }
  });

  it('documents the Retry-After header', () => {
    for (const { name, operation } of operations) {
      const busy = operation.responses['503'];
      if (busy?.description.includes('queue_full')) expect(busy.headers, name).to.have.key('Retry-After');
    }
  });

  it('lists every error with its status and meaning, ordered by status', () => {
    const { description = '' } = document.components.schemas['ErrorBody'] ?? {};
    const rows = description.split('\n').filter((line) => /^\| \d{3} \|/.test(line));
    expect(rows).to.have.members(
      Object.entries(ERROR_STATUSES).map(
        ([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`,
      ),
    );
    expect(rows).to.deep.equal(rows.toSorted());
  });

  it('has valid examples of components', () => {
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

  it('shows the real responses to the example pipeline', async () => {
    const sent = document.paths['/pipelines/run']?.['post']?.requestBody?.content;
    const hello = sent?.['application/json']?.examples?.['hello']?.value as { pipeline: object };
    const shown = (title: string): unknown => document.components.schemas[title]?.examples?.[0];
    const pipeline = { pipeline: hello.pipeline };
    expect((await server.request('POST', '/pipelines/run', hello)).body).to.deep.equal(shown('RunResult'));
    expect((await server.request('POST', '/pipelines/validate', pipeline)).body).to.deep.equal(
      shown('ValidationReport'),
    );
    expect((await server.request('POST', '/pipelines/graph', pipeline)).body).to.deep.equal(shown('Graph'));
    const yaml = { 'content-type': 'application/yaml' };
    expect((await server.request('POST', '/pipelines/graph', EXAMPLE_YAML, yaml)).body).to.deep.equal(
      shown('Graph'),
    );
    const bad = EXAMPLE_YAML.replace('mock', 'mok');
    const { body } = await server.request<{ problems: object[] }>('POST', '/pipelines/validate', bad, yaml);
    expect(body.problems[0]).to.have.property('fix');
    expect(body.problems.map((problem) => ({ ...problem, fix: undefined }))).to.deep.equal([
      { ...(shown('Problem') as object), fix: undefined },
    ]);
  });

  it('shows the real responses to the example plan', async () => {
    const sent = document.paths['/plans/run']?.['post']?.requestBody?.content;
    const letter = sent?.['application/json']?.examples?.['letter']?.value as Record<string, unknown>;
    const { inputs: _, ...definition } = letter;
    const shown = (title: string): unknown => document.components.schemas[title]?.examples?.[0];
    expect((await server.request('POST', '/plans/run', letter)).body).to.deep.equal(shown('PlanResult'));
    expect((await server.request('POST', '/plans/validate', definition)).body).to.deep.equal(
      shown('PlanReport'),
    );
    const yaml = { 'content-type': 'application/yaml' };
    const text = sent?.['application/yaml']?.example;
    expect((await server.request('POST', '/plans/validate', text, yaml)).body).to.deep.equal(
      shown('PlanReport'),
    );
  });
});
