import { expect } from 'chai';
import { pipelineJsonSchema } from '../../../lib/definition/schema/json-schema.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { ValidationReport } from '../../../lib/pipelines/report.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { suiteServer } from '../support/suite-server.js';

const PIPELINE = {
  id: 'p',
  goal: 'g',
  inputs: { all: [] },
  tasks: [
    { id: 'a', tool: 'mock', retry: 2 },
    { id: 'b', tool: 'store', inputs: { key: 'k', value: '{{a.output}}' } },
    {
      id: 'c',
      tool: 'mock',
      parallel_over: '{{pipeline.inputs.all}}',
      inputs: { x: '{{item}}' },
      await: ['a'],
    },
  ],
};

describe('The /pipelines routes that run nothing', () => {
  const server = suiteServer();

  const validate = (body: unknown, headers?: Record<string, string>) =>
    server.request<ValidationReport & ErrorBody>('POST', '/pipelines/validate', body, headers);

  it('report a valid pipeline with the statistics of the command line (D33)', async () => {
    const { status, body } = await validate({ pipeline: PIPELINE });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      ok: true,
      errors: null,
      warnings: [],
      problems: [],
      message: 'Pipeline is valid',
      stats: {
        id: 'p',
        goal: 'g',
        tasks: 3,
        tools: ['mock', 'store'],
        inputs_count: 1,
        store_keys: ['k'],
        waves: 2,
        wave_sizes: [1, 2],
        fan_out_tasks: 1,
        total_retries: 2,
      },
    });
  });

  it('list on request the paths that templates can read, also of a definition with errors', async () => {
    const tasks = [...PIPELINE.tasks, { id: 'get', tool: 'http_request' }];
    const { status, body } = await server.request<ValidationReport>(
      'POST',
      '/pipelines/validate?paths=true',
      { pipeline: { ...PIPELINE, tasks } },
    );
    expect([status, body.ok]).to.deep.equal([200, false]);
    const [found] = body.paths ?? [];
    expect(found?.sub_pipeline).to.equal(null);
    expect(found?.paths['get.output.status']).to.include({ type: 'integer' });
    expect(found?.items).to.deep.equal({ c: { item: { type: 'any' } } });
    expect((await validate({ pipeline: { ...PIPELINE, tasks } })).body).to.not.have.property('paths');
  });

  it('report errors with status 200 (Errors, rule 1)', async () => {
    const { status, body } = await validate({ pipeline: { ...PIPELINE, tasks: [{ id: 'a', tool: 'mok' }] } });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      ok: false,
      errors: ['/tasks/0/tool: there is no tool "mok" (did you mean "mock"?)'],
      warnings: [],
      problems: [
        {
          code: 'unknown_tool',
          message: 'there is no tool "mok"',
          path: '/tasks/0/tool',
          severity: 'error',
          hint: 'did you mean "mock"?',
        },
      ],
      message: 'Validation failed',
      stats: null,
    });
  });

  it('accept YAML in a field or alone, with line numbers (D7, D33)', async () => {
    const yaml = 'pipeline:\n  id: p\n  goal: g\n  tasks:\n    - id: a\n      tool: mok\n';
    const place = { line: 6, column: 13 };
    expect((await validate({ yaml })).body.problems[0]).to.include(place);
    expect((await validate(yaml, { 'content-type': 'application/yaml' })).body.problems[0]).to.include(place);
    expect((await validate({ yaml: yaml.replace('mok', 'mock') })).body.ok).to.equal(true);
  });

  it('accept a definition under its root key, and consider the values of the request', async () => {
    expect((await validate({ pipeline: { pipeline: PIPELINE } })).body.ok).to.equal(true);
    const task = { id: 'a', tool: 'mock', inputs: { x: '{{pipeline.inputs.i}} {{session.s}}' } };
    const pipeline = { id: 'p', goal: 'g', tasks: [task] };
    expect((await validate({ pipeline })).body).to.deep.include({ ok: false });
    const { body } = await validate({ pipeline, inputs: { i: 1 }, session: { s: 1 } });
    expect(body).to.deep.include({ ok: true, warnings: [] });
  });

  it('report whatever is sent as the definition, with status 200 (Errors, rule 1; D56)', async () => {
    const field = 'send text in field "yaml"';
    for (const [pipeline, message, hint] of [
      [null, 'a definition must be a map, not null', 'start with "pipeline:"'],
      ['id: p', 'a definition must be a map, not text', field],
      [[PIPELINE], 'a definition must be a map, not a list', 'start with "pipeline:"'],
      [7, 'a definition must be a map, not a number', 'start with "pipeline:"'],
      [{ pipeline: null }, 'the pipeline must be a map, not null', undefined],
    ] as const) {
      const { status, body } = await validate({ pipeline });
      expect(status, message).to.equal(200);
      expect(body, message).to.include({ ok: false, stats: null, message: 'Validation failed' });
      expect(body.problems.map((problem) => [problem.message, problem.hint])).to.deep.equal([
        [message, hint],
      ]);
      for (const path of ['run', 'run_async', 'graph']) {
        const refused = await server.request<ErrorBody>('POST', `/pipelines/${path}`, { pipeline });
        expect([refused.status, refused.body.detail.code], path).to.deep.equal([400, 'invalid_definition']);
      }
    }
    for (const yaml of ['', 'null', '- a', 'text'])
      expect((await validate({ yaml })).body.ok).to.equal(false);
  });

  it('accept the other fields of the body of a run (D56)', async () => {
    const run = {
      pipeline: PIPELINE,
      params: { n: 1 },
      inputs: { all: [1] },
      session: {},
      options: { per_task_timeout: 1 },
      collect_events: true,
      tenant_id: 'default',
    };
    expect((await validate(run)).body).to.include({ ok: true });
    const nulls = Object.fromEntries(Object.keys(run).map((field) => [field, null]));
    expect((await validate({ ...nulls, pipeline: PIPELINE })).body).to.include({ ok: true });
    expect((await validate({ ...nulls, yaml: JSON.stringify(PIPELINE) })).body).to.include({ ok: true });
  });

  it('refuse a body with no definition or two', async () => {
    for (const [body, message] of [
      [{}, 'the definition is missing: send it in field "pipeline", or as text in field "yaml"'],
      [
        { pipeline: PIPELINE, yaml: 'id: p' },
        'the request has two definitions: send either "pipeline" or "yaml"',
      ],
    ] as const) {
      const response = await validate(body);
      expect(response.status).to.equal(400);
      expect(response.body.detail).to.deep.equal({ code: 'invalid_request', message });
    }
  });

  it('list the tools with their metadata (Tools)', async () => {
    const { status, body } = await server.request('GET', '/pipelines/tools');
    expect(status).to.equal(200);
    const catalog = builtinCatalog();
    expect(body).to.deep.equal(
      JSON.parse(JSON.stringify({ tools: catalog.names(), metadata: catalog.metadata() })),
    );
    expect(body['tools']).to.include.members(['mock', 'store', 'sleep', 'fail']);
    const request = catalog.metadata().find(({ name }) => name === 'http_request');
    expect(request?.output.schema).to.have.nested.property('properties.status.type', 'integer');
  });

  it('return the graph as data, as Mermaid, as Graphviz and as SVG (D35)', async () => {
    const draw = (format: string) =>
      server.request<string>('POST', `/pipelines/graph${format}`, { pipeline: PIPELINE });
    const graph = await draw('');
    expect(graph.body).to.deep.equal({
      id: 'p',
      goal: 'g',
      waves: [
        [{ id: 'a', tool: 'mock', fan_out: false }],
        [
          { id: 'b', tool: 'store', fan_out: false },
          { id: 'c', tool: 'mock', fan_out: true },
        ],
      ],
      edges: [
        { from: 'a', to: 'b', kind: 'template' },
        { from: 'a', to: 'c', kind: 'await' },
      ],
    });
    expect((await draw('?format=json')).body).to.deep.equal(graph.body);
    const mermaid = await draw('?format=mermaid');
    expect(mermaid.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(mermaid.body).to.match(/^---\ntitle: "p"\n---\nflowchart LR\n/);
    const dot = await draw('?format=dot');
    expect(dot.headers.get('content-type')).to.match(/^text\/vnd\.graphviz/);
    expect(dot.body).to.match(/^digraph "p" \{\n/);
    const svg = await draw('?format=svg');
    expect(svg.headers.get('content-type')).to.equal('image/svg+xml');
    expect(svg.headers.get('content-security-policy')).to.match(
      /^default-src 'none'; style-src 'unsafe-inline'; .*sandbox$/,
    );
    expect(svg.body).to.match(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*aria-label="p: /);
    expect((await draw('?format=png')).status).to.equal(400);
  });

  it('refuse to draw an invalid definition', async () => {
    const { status, body } = await server.request<ErrorBody>('POST', '/pipelines/graph', {
      pipeline: { id: 'p' },
    });
    expect(`${status} ${body.detail.code}`).to.equal('400 invalid_definition');
    expect(body.detail.errors).to.have.length.greaterThan(0);
  });

  it('serve the JSON Schema of pipeline files for editors, which knows the tools of the server (D35)', async () => {
    const { status, body, headers } = await server.request('GET', '/schemas/pipeline.json');
    expect(status).to.equal(200);
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(pipelineJsonSchema(builtinCatalog().taskNames()))));
    const ifNoneMatch = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await server.request('GET', '/schemas/pipeline.json', undefined, ifNoneMatch)).status).to.equal(
      304,
    );
  });
});
