import { expect } from 'chai';
import { planJsonSchema } from '../../../lib/definition/schema/json-schema.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { PlanReport } from '../../../lib/plans/report.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { LETTER, LETTER_PIPELINES, LETTER_YAML, createPipeline } from '../support/plans.js';
import { suiteServer } from '../support/suite-server.js';

const YAML = { 'content-type': 'application/yaml' };

describe('POST /plans/validate', () => {
  const server = suiteServer();

  const validate = (body: unknown, headers?: Record<string, string>) =>
    server.request<PlanReport & ErrorBody>('POST', '/plans/validate', body, headers);

  it('reports a valid plan with its statistics (D33)', async () => {
    const { status, body } = await validate({ plan: LETTER, pipelines: LETTER_PIPELINES });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      ok: true,
      errors: null,
      warnings: [],
      problems: [],
      message: 'Plan is valid',
      stats: {
        id: 'letter',
        goal: 'write a letter',
        sub_pipelines: 2,
        inputs_count: 1,
        order: ['greet', 'sign'],
        waves: 2,
        wave_ids: [['greet'], ['sign']],
        plan_concurrency: 1,
        tasks: 2,
        keys: [
          { key: 'greeting', stored_by: 'greet', read_by: ['sign'] },
          { key: 'letter', stored_by: 'sign', read_by: [] },
        ],
      },
    });
  });

  it('accepts a plan under its root key, and YAML in a field or alone, with line numbers (D33, D44)', async () => {
    expect((await validate({ plan: { plan: LETTER }, pipelines: LETTER_PIPELINES })).body.ok).to.equal(true);
    const misspelt = LETTER_YAML.replace('tool: store', 'tool: stor');
    const place = { code: 'unknown_tool', line: 12 };
    expect((await validate({ yaml: misspelt })).body.problems[0]).to.include(place);
    expect((await validate(misspelt, YAML)).body.problems[0]).to.include(place);
    expect((await validate(LETTER_YAML, YAML)).body).to.include({ ok: true });
  });

  it('lists on request the paths that the templates of its pipelines can read', async () => {
    const plan = {
      id: 'p',
      sub_pipelines: [{ id: 'a', pipeline: createPipeline('a', { id: 'one', tool: 'mock' }) }],
    };
    const { body } = await server.request<PlanReport>('POST', '/plans/validate?paths=true', { plan });
    expect(body.paths?.map(({ sub_pipeline: id }) => id)).to.deep.equal(['a']);
  });

  it('considers the inputs and session values of the request (D5, D9)', async () => {
    const plan = { id: 'p', sub_pipelines: [{ id: 'a', reads: ['k'], inputs: ['i'] }] };
    expect((await validate({ plan })).body.ok).to.equal(false);
    expect((await validate({ plan, inputs: { i: 1 }, session: { k: 1 } })).body.ok).to.equal(true);
  });

  it('reports whatever is sent as the plan or as a pipeline, with status 200 (Errors, rule 1; D56)', async () => {
    for (const plan of [null, 'id: p', [LETTER], 7, { plan: null }]) {
      const { status, body } = await validate({ plan });
      expect([status, body.ok, body.stats], JSON.stringify(plan)).to.deep.equal([200, false, null]);
      expect(body.errors).to.have.length(1);
    }
    for (const sign of ['', 7, [], {}]) {
      const { status, body } = await validate({ plan: LETTER, pipelines: { ...LETTER_PIPELINES, sign } });
      expect([status, body.ok], JSON.stringify(sign)).to.deep.equal([200, false]);
      expect(body.problems[0]?.path).to.match(/^\/pipelines\/sign/);
    }
    const { body } = await validate({ plan: LETTER, pipelines: { ...LETTER_PIPELINES, sign: null } });
    expect(body.problems.map(({ code }) => code)).to.deep.equal(['missing_pipeline']);
  });

  it('accepts the other fields of the body of a run, and nulls (D53, D56)', async () => {
    const run = {
      inputs: {},
      session: {},
      options: {},
      collect_events: true,
      plan_concurrency: 2,
      tenant_id: 'default',
    };
    const sent = { plan: LETTER, pipelines: LETTER_PIPELINES };
    expect((await validate({ ...sent, ...run })).body).to.include({ ok: true });
    const nulls = Object.fromEntries(Object.keys(run).map((field) => [field, null]));
    expect((await validate({ ...sent, ...nulls })).body).to.include({ ok: true });
  });

  it('refuses a body with no plan or two, and fields of other routes', async () => {
    for (const [body, message] of [
      [{}, 'the definition is missing: send it in field "plan", or as text in field "yaml"'],
      [{ plan: LETTER, yaml: 'id: p' }, 'the request has two definitions: send either "plan" or "yaml"'],
      [
        { plan: LETTER, params: {} },
        'there is no field "params" here: a plan has no params: send values in "inputs", and give the params of its pipelines defaults',
      ],
      [
        { pipeline: LETTER },
        'there is no field "pipeline" here: send a pipeline to /pipelines/run, /pipelines/run_async or /pipelines/validate, and the pipelines of a plan in "pipelines"',
      ],
      [{ plan: LETTER, pipelines: [] }, 'field "pipelines" must be an object or null, not a list'],
    ] as const) {
      const response = await validate(body);
      expect(response.status).to.equal(400);
      expect(response.body.detail).to.deep.equal({ code: 'invalid_request', message });
    }
  });

  it('names the right path for a pipeline sent as a plan, and for a plan sent as a pipeline', async () => {
    const there = 'send it to /pipelines/run, /pipelines/run_async or /pipelines/validate';
    const pipeline = createPipeline('p', { id: 'a', tool: 'mock' });
    for (const plan of [pipeline, { pipeline }, { plan: pipeline }]) {
      expect((await validate({ plan })).body.problems, JSON.stringify(plan)).to.have.nested.property(
        '[0].hint',
        there,
      );
    }
    const text = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}]\n';
    expect((await validate(text, YAML)).body.errors?.[0]).to.include(there);

    const back = 'send it to /plans/run, /plans/run_async or /plans/validate';
    for (const path of ['run', 'run_async', 'graph']) {
      const send = (body: unknown, headers?: Record<string, string>) =>
        server.request<ErrorBody>('POST', `/pipelines/${path}`, body, headers);
      expect((await send(LETTER_YAML, YAML)).body.detail.problems?.[0]).to.include({ hint: back });
      expect((await send({ pipeline: LETTER })).body.detail.problems?.[0]).to.include({ hint: back });
      expect((await send({ plan: LETTER })).body.detail.message).to.equal(
        'there is no field "plan" here: send plans to /plans/run, /plans/run_async or /plans/validate',
      );
    }
    const report = await server.request<PlanReport>('POST', '/pipelines/validate', { yaml: LETTER_YAML });
    expect(report.body.problems[0]).to.include({ hint: back, line: 1 });
  });

  it('limits all texts of a request together to 256 KiB', async () => {
    const padded = (kib: number): string => `${LETTER_YAML}#${' '.repeat(kib * 1024)}`;
    const extra = (kib: number): string =>
      `id: x\ngoal: g\ntasks: [{id: a, tool: mock}]\n#${' '.repeat(kib * 1024)}`;
    expect(
      (await validate({ yaml: padded(120), pipelines: { a: extra(60), b: extra(60) } })).status,
    ).to.equal(200);
    const { status, body } = await validate({ yaml: padded(120), pipelines: { a: extra(70), b: extra(70) } });
    expect(`${status} ${body.detail.code}`).to.equal('413 body_too_large');
    expect(body.detail.message).to.include('all texts together');
    expect((await validate({ plan: LETTER, pipelines: { a: extra(257) } })).status).to.equal(413);
    expect((await validate(padded(257), YAML)).status).to.equal(413);
  });

  it('serves the JSON Schema of plan files for editors', async () => {
    const { status, body, headers } = await server.request('GET', '/schemas/plan.json');
    expect(status).to.equal(200);
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(planJsonSchema(builtinCatalog().taskNames()))));
    const ifNoneMatch = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await server.request('GET', '/schemas/plan.json', undefined, ifNoneMatch)).status).to.equal(304);
  });
});
