import { expect } from 'chai';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { AcceptedRun } from '../../../../lib/runs/record.js';
import type { AcceptedRerun } from '../../../../lib/runs/rerun/rerun-report.js';
import type { TestResponse } from '../../../support/http/test-server.js';
import { ControlledServer, TWO_WAVES } from '../../support/controlled-server.js';

describe('POST /pipelines/runs/{run_id}/rerun (D35)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  /** Fails in the second wave. */
  async function failedRun(): Promise<string> {
    const runId = await fixture.submit(TWO_WAVES, { tenant_id: 'acme', collect_events: true });
    fixture.findCall(runId).resolve('first');
    await fixture.waitUntilIdle();
    await fixture.fail(runId);
    return runId;
  }

  async function rerun(runId: string, body?: object): Promise<string> {
    const response = await fixture.request<{ run_id: string }>(
      'POST',
      `/pipelines/runs/${runId}/rerun`,
      body,
    );
    expect(response.status).to.equal(202);
    expect(response.headers.get('location')).to.equal(`/pipelines/runs/${response.body.run_id}`);
    await fixture.waitUntilIdle();
    return response.body.run_id;
  }

  it('runs everything again with the values of the earlier run', async () => {
    const earlier = await failedRun();
    const again = await rerun(earlier);
    expect(fixture.findCall(again).context.task_id).to.equal('a');
    expect(await fixture.poll(again)).to.deep.include({
      rerun_of: earlier,
      tenant_id: 'acme',
      status: 'running',
    });
  });

  it('refuses an unknown task and an invalid body', async () => {
    const earlier = await failedRun();
    for (const body of [{ from: 'c' }, { from: '' }, { from: 1 }, { to: 'a' }, []]) {
      const response = await fixture.request<ErrorBody>('POST', `/pipelines/runs/${earlier}/rerun`, body);
      expect(`${response.status} ${response.body.detail.code}`).to.equal('400 invalid_request');
    }
  });

  it('starts one run for repeated requests with the same Idempotency-Key (D36)', async () => {
    const path = `/pipelines/runs/${await failedRun()}/rerun`;
    const otherPath = `/pipelines/runs/${await failedRun()}/rerun`;
    const repeat = (key: string, body: object, from = path): Promise<TestResponse<AcceptedRun & ErrorBody>> =>
      fixture.server.request('POST', from, body, { 'idempotency-key': key });
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => repeat('again', { from: 'failed' })));
    others.push(await repeat('again', { from: 'failed' }));
    expect(others.map(({ status }) => status)).to.deep.equal([202, 202, 202]);
    expect(new Set(others.map(({ body }) => body.run_id))).to.deep.equal(new Set([first?.body.run_id]));
    expect(others.map(({ headers }) => headers.get('idempotent-replayed'))).to.deep.equal([
      'true',
      'true',
      'true',
    ]);
    const conflicts = [await repeat('again', {}), await repeat('again', { from: 'failed' }, otherPath)];
    expect(conflicts.map(({ body }) => body.detail.code)).to.deep.equal(
      Array.from({ length: 2 }, () => 'idempotency_conflict'),
    );
  });
});

describe('POST /pipelines/runs/{run_id}/rerun with changes (D60)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  const FIXED = {
    ...TWO_WAVES,
    tasks: [TWO_WAVES.tasks[0], { ...TWO_WAVES.tasks[1], inputs: { given: '{{a.output}}', more: true } }],
  };

  async function failedRun(more: object = {}, pipeline: object = TWO_WAVES): Promise<string> {
    const runId = await fixture.submit(pipeline, more);
    await fixture.complete(runId);
    await fixture.fail(runId);
    return runId;
  }

  function rerun(
    runId: string,
    body: object,
    headers = {},
  ): Promise<TestResponse<AcceptedRerun & ErrorBody>> {
    return fixture.server.request('POST', `/pipelines/runs/${runId}/rerun`, body, headers);
  }

  it('runs a fixed definition, as JSON or as YAML, and says what it reuses and what it runs and why', async () => {
    for (const definition of [{ pipeline: FIXED }, { yaml: JSON.stringify(FIXED), pipeline: null }]) {
      const { status, body } = await rerun(await failedRun(), definition);
      expect(status).to.equal(202);
      expect(body.rerun).to.deep.equal({
        reused: [{ task_id: 'a' }],
        runs: [{ task_id: 'b', reason: 'has changed inputs', reusable_items: 0, repeats: 0 }],
        warnings: [],
      });
      await fixture.waitUntilIdle();
      expect(fixture.findCall(body.run_id)).to.deep.include({ inputs: { given: 'done', more: true } });
      await fixture.complete(body.run_id);
    }
  });

  it('takes null as left out in every field (D53)', async () => {
    const fields = [
      'from',
      'pipeline',
      'yaml',
      'plan',
      'pipelines',
      'params',
      'inputs',
      'session',
      'options',
      'plan_concurrency',
    ];
    const { status, body } = await rerun(
      await failedRun(),
      Object.fromEntries(fields.map((field) => [field, null])),
    );
    expect(status).to.equal(202);
    expect(body.rerun?.reused).to.deep.equal([]);
  });

  it('takes a fixed definition alone as YAML', async () => {
    const text = JSON.stringify(FIXED);
    const headers = { 'content-type': 'application/yaml' };
    const path = `/pipelines/runs/${await failedRun()}/rerun`;
    const { status, body } = await fixture.server.request<AcceptedRerun>('POST', path, text, headers);
    expect(status).to.equal(202);
    expect(body.rerun?.reused).to.deep.equal([{ task_id: 'a' }]);
  });

  it('rejects an invalid definition with every problem, and runs nothing', async () => {
    const earlier = await failedRun();
    const { status, body } = await rerun(earlier, {
      yaml: 'pipeline:\n  id: x\n  goal: g\n  tasks:\n    - {id: a, tool: mok}\n',
    });
    expect(`${status} ${body.detail.code}`).to.equal('400 invalid_definition');
    expect(body.detail.problems?.[0]).to.deep.include({ code: 'unknown_tool', line: 5 });
    expect(fixture.server.registry.list({ limit: 9 }).runs).to.have.length(1);
  });

  it('validates the definition with the inputs of the earlier run, and with those of the request', async () => {
    const reading = {
      ...FIXED,
      tasks: [
        TWO_WAVES.tasks[0],
        {
          id: 'b',
          tool: 'controlled',
          inputs: { given: '{{pipeline.inputs.x}}{{pipeline.inputs.y}}' },
          await: ['a'],
        },
      ],
    };
    const earlier = await failedRun({ inputs: { x: 1 } });
    const missing = await rerun(earlier, { pipeline: reading });
    expect(missing.body.detail.message)
      .to.contain('pipeline.inputs.y')
      .and.not.to.contain('pipeline.inputs.x');
    const { body } = await rerun(earlier, { pipeline: reading, inputs: { y: 2 } });
    await fixture.waitUntilIdle();
    expect(fixture.findCall(body.run_id)).to.deep.include({ inputs: { given: '12' } });
  });

  it('rejects a definition of the other kind, and parts of a plan without the plan', async () => {
    const earlier = await failedRun();
    for (const change of [{ plan: {} }, { pipelines: {} }, { plan_concurrency: 2 }]) {
      const { status, body } = await rerun(earlier, change);
      expect(`${status} ${body.detail.code}`).to.equal('400 invalid_request');
      expect(body.detail.message).to.contain(`run ${earlier} belongs to a pipeline`);
    }
    const plan = { id: 'p', goal: 'g', sub_pipelines: [{ id: 's', pipeline: TWO_WAVES }] };
    const planRun = await fixture.submitPlan(plan);
    await fixture.complete(planRun);
    await fixture.fail(planRun);
    for (const change of [{ pipeline: TWO_WAVES }, { params: {} }, { pipelines: { s: TWO_WAVES } }]) {
      expect((await rerun(planRun, change)).body.detail.code).to.equal('invalid_request');
    }
    const fixed = { ...plan, sub_pipelines: [{ id: 's', pipeline: FIXED }] };
    const { body } = await rerun(planRun, { plan: fixed });
    expect(body.rerun?.reused).to.deep.equal([{ sub_pipeline: 's', task_id: 'a' }]);
  });

  it('starts one run for the same key and changes, and refuses other changes with that key (D36)', async () => {
    const earlier = await failedRun();
    const key = { 'idempotency-key': 'fixed' };
    const first = await rerun(earlier, { pipeline: FIXED }, key);
    const again = await rerun(earlier, { pipeline: FIXED }, key);
    expect(again.body).to.deep.equal({ ...first.body, status: 'running' });
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    const other = await rerun(earlier, { pipeline: FIXED, inputs: { x: 1 } }, key);
    expect(`${other.status} ${other.body.detail.code}`).to.equal('409 idempotency_conflict');
    fixture.server.registry.forget(first.body.run_id);
    expect((await rerun(earlier, { pipeline: FIXED }, key)).body).to.deep.include({
      run_id: first.body.run_id,
      rerun: null,
    });
  });
});
