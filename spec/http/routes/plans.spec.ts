import { expect } from 'chai';
import { planJsonSchema } from '../../../lib/definition/schema/json-schema.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { PlanReport } from '../../../lib/plans/load.js';
import { serving, type Serving } from '../../support/http/serving.js';
import { LETTER, LETTER_PIPELINES, LETTER_YAML, pipelineOf, storing } from '../support/plans.js';

const YAML = { 'content-type': 'application/yaml' };

describe('What can be asked about a plan', () => {
  let server: Serving;
  before(async () => {
    server = await serving();
  });
  after(() => server.close(0));

  const validate = (body: unknown, headers?: Record<string, string>) =>
    server.ask<PlanReport & ErrorBody>('POST', '/plans/validate', body, headers);

  it('validates: ok, no errors, and the statistics of plans (D33)', async () => {
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

  it('takes the plan with its root, and as YAML in a field or alone, with lines (D33, D44)', async () => {
    expect((await validate({ plan: { plan: LETTER }, pipelines: LETTER_PIPELINES })).body.ok).to.equal(true);
    const misspelt = LETTER_YAML.replace('tool: store', 'tool: stor');
    const place = { code: 'unknown_tool', line: 12 };
    expect((await validate({ yaml: misspelt })).body.problems[0]).to.include(place);
    expect((await validate(misspelt, YAML)).body.problems[0]).to.include(place);
    expect((await validate(LETTER_YAML, YAML)).body).to.include({ ok: true });
  });

  it('checks a sub-pipeline without its pipeline by what the plan says of it, with a warning', async () => {
    const { body } = await validate({ plan: LETTER, pipelines: { greet: LETTER_PIPELINES.greet } });
    expect(body).to.include({ ok: true });
    expect(body.stats).to.include({ tasks: 1, sub_pipelines: 2 });
    expect(body.problems).to.deep.equal([
      {
        code: 'missing_pipeline',
        message: 'sub-pipeline "sign" was not compared with its pipeline: it is not at hand',
        path: '/sub_pipelines/0',
        severity: 'warning',
        hint: 'send it in "pipelines" under that id, or write it in the plan: the server reads none of the files that a plan names',
      },
    ]);
  });

  it('reports what plan and pipelines say differently, in the body (Plan, rule 3; D46)', async () => {
    const pipelines = { ...LETTER_PIPELINES, greet: pipelineOf('greet', storing('other', 1)) };
    const { status, body } = await validate({ plan: LETTER, pipelines });
    expect(status).to.equal(200);
    expect(body).to.include({ ok: false, message: 'Validation failed', stats: null });
    expect(body.problems.map(({ code }) => code)).to.include.members(['undeclared_store', 'never_stored']);
    const twice = { id: 'p', sub_pipelines: ['a', 'b'].map((id) => ({ id, stores: ['k'] })) };
    expect((await validate({ plan: twice })).body.problems.map(({ code }) => code)).to.include('two_writers');
  });

  it('places what a pipeline beside the plan has wrong', async () => {
    const text = 'id: sign\ngoal: g\ntasks:\n  - {id: a, tool: mok}\n';
    const { body } = await validate({ plan: LETTER, pipelines: { ...LETTER_PIPELINES, sign: text } });
    expect(body.problems[0]).to.include({ code: 'unknown_tool', path: '/pipelines/sign/tasks/0/tool' });
    expect(body.problems[0]?.message).to.include('line 4');
  });

  it('warns of a pipeline that no sub-pipeline takes, and suggests the one that was meant', async () => {
    const { greet, sign } = LETTER_PIPELINES;
    const { body } = await validate({ plan: LETTER, pipelines: { greet, sing: sign } });
    expect(body.problems.find(({ path }) => path === '/pipelines/sing')).to.include({
      severity: 'warning',
      hint: 'did you mean "sign"?',
    });
  });

  it('knows what the run will be given (D5, D9)', async () => {
    const plan = { id: 'p', sub_pipelines: [{ id: 'a', reads: ['k'], inputs: ['i'] }] };
    expect((await validate({ plan })).body.ok).to.equal(false);
    expect((await validate({ plan, inputs: { i: 1 }, session: { k: 1 } })).body.ok).to.equal(true);
  });

  it('refuses a body with no plan, or with two, and fields that are of elsewhere', async () => {
    for (const [body, message] of [
      [{}, 'field "plan" is missing: the definition goes there, or as text into "yaml"'],
      [{ plan: LETTER, yaml: 'id: p' }, 'give the definition once: as plan or as yaml'],
      [
        { plan: LETTER, params: {} },
        'there is no field "params" here: a plan has no params: give values in "inputs", and defaults to the params of its pipelines',
      ],
      [
        { pipeline: LETTER },
        'there is no field "pipeline" here: pipelines go to /pipelines/run, /pipelines/run_async and /pipelines/validate; those of a plan into "pipelines"',
      ],
      [
        { plan: LETTER, pipelines: { sign: 7 } },
        'field "pipelines.sign" must be an object or a string, not a number',
      ],
      [{ plan: LETTER, pipelines: [] }, 'field "pipelines" must be an object, not a list'],
    ] as const) {
      const answer = await validate(body);
      expect(answer.status).to.equal(400);
      expect(answer.body.detail).to.deep.equal({ code: 'invalid_request', message });
    }
  });

  it('says of a pipeline where to send it, and of a plan that came where pipelines go', async () => {
    const there = 'send it to /pipelines/run, /pipelines/run_async or /pipelines/validate';
    const pipeline = pipelineOf('p', { id: 'a', tool: 'mock' });
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
      const ask = (body: unknown, headers?: Record<string, string>) =>
        server.ask<ErrorBody>('POST', `/pipelines/${path}`, body, headers);
      expect((await ask(LETTER_YAML, YAML)).body.detail.problems?.[0]).to.include({ hint: back });
      expect((await ask({ pipeline: LETTER })).body.detail.problems?.[0]).to.include({ hint: back });
      expect((await ask({ plan: LETTER })).body.detail.message).to.equal(
        'there is no field "plan" here: plans go to /plans/run, /plans/run_async and /plans/validate',
      );
    }
    const report = await server.ask<PlanReport>('POST', '/pipelines/validate', { yaml: LETTER_YAML });
    expect(report.body.problems[0]).to.include({ hint: back, line: 1 });
  });

  it('counts all texts of a request together, up to 256 KiB', async () => {
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

  it('gives the JSON Schema of plan files to editors', async () => {
    const { status, body, headers } = await server.ask('GET', '/schemas/plan.json');
    expect(status).to.equal(200);
    expect(body).to.deep.equal(JSON.parse(JSON.stringify(planJsonSchema())));
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await server.ask('GET', '/schemas/plan.json', undefined, known)).status).to.equal(304);
  });
});
