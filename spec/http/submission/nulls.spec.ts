import { expect } from 'chai';
import type { RunResult } from '../../../lib/execution/results.js';
import type { ValidationReport } from '../../../lib/pipelines/report.js';
import { suiteServer } from '../support/suite-server.js';

const YAML = `
pipeline:
  id: 2024-06.yaml
  goal: read what there is
  params:
  #  city: {default: Ulm}
  inputs:
  #  limit: 3
  reads:
  tasks:
  - id: a
    tool: mock
    inputs:
    #  x: 1
    await:
    parallel_over:
    retry:
`;

describe('Fields with nothing behind them count as left out (D53)', () => {
  const server = suiteServer();

  const NULLS = {
    inputs: null,
    params: null,
    session: null,
    options: null,
    collect_events: null,
  };

  it('in the definition', async () => {
    const { body } = await server.request<ValidationReport>('POST', '/pipelines/validate', { yaml: YAML });
    expect(body).to.deep.include({ ok: true, problems: [] });
    expect(body.stats).to.deep.include({ id: '2024-06.yaml', inputs_count: 0, fan_out_tasks: 0 });
  });

  for (const path of ['run', 'run_async']) {
    it(`in a request to /pipelines/${path}`, async () => {
      const tenant = path === 'run' ? {} : { tenant_id: null };
      const { status } = await server.request('POST', `/pipelines/${path}`, {
        yaml: YAML,
        ...NULLS,
        ...tenant,
      });
      expect(status).to.equal(path === 'run' ? 200 : 202);
    });
  }

  it('in a request that runs a plan', async () => {
    const pipeline = {
      id: 'p',
      goal: 'g',
      tasks: [{ id: 'a', tool: 'store', inputs: { key: 'k', value: 1 } }],
    };
    const sub = { id: 's', reads: null, stores: ['k'], inputs: null, pipeline };
    const { params: _, ...nulls } = NULLS;
    const { status, body } = await server.request<RunResult>('POST', '/plans/run', {
      plan: { id: 'p', inputs: null, sub_pipelines: [sub] },
      yaml: null,
      pipelines: null,
      plan_concurrency: null,
      ...nulls,
    });
    expect(status, JSON.stringify(body)).to.equal(200);
  });

  it('so that the same request without them is the same run (D36)', async () => {
    const headers = { 'idempotency-key': 'nulls' };
    const [first, second] = [
      await server.request('POST', '/pipelines/run_async', { yaml: YAML }, headers),
      await server.request('POST', '/pipelines/run_async', { yaml: YAML, ...NULLS }, headers),
    ];
    expect([first.status, second.status]).to.deep.equal([202, 202]);
    expect(second.headers.get('idempotent-replayed')).to.equal('true');
  });
});
