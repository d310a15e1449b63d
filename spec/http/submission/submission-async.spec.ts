import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { AcceptedRun, RunRecord } from '../../../lib/runs/record.js';
import type { TestResponse } from '../../support/http/test-server.js';
import { suiteServer } from '../support/suite-server.js';

const ONE_MOCK = {
  id: 'p',
  goal: 'greet {{params.name}}',
  params: { name: { default: 'Ada' } },
  tasks: [{ id: 'a', tool: 'mock' }],
};

describe('POST /pipelines/run_async', () => {
  const server = suiteServer();

  const submit = <T = AcceptedRun>(
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<TestResponse<T>> => server.request<T>('POST', '/pipelines/run_async', body, headers);

  const settled = async (runId: string): Promise<RunRecord> =>
    (await server.request<RunRecord>('GET', `/pipelines/runs/${runId}?wait=10`)).body;

  it('responds 202 with the run id, the status queued and the path of the record (D31)', async () => {
    const { status, body, headers } = await submit({ pipeline: ONE_MOCK });
    expect(status).to.equal(202);
    expect(Object.keys(body)).to.deep.equal(['run_id', 'status']);
    expect(body.run_id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(body.status).to.equal('queued');
    expect(headers.get('location')).to.equal(`/pipelines/runs/${body.run_id}`);
    expect((await settled(body.run_id)).status).to.equal('succeeded');
  });

  it('accepts YAML, and refuses an invalid request before a run exists (D32, D33)', async () => {
    const yaml = await submit('id: p\ngoal: g\ntasks: [{id: a, tool: mock}]', {
      'content-type': 'application/yaml',
    });
    expect(yaml.status).to.equal(202);
    const before = server.registry.list({ limit: 500 }).runs.length;
    const refused: [object, string][] = [
      [{ pipeline: {} }, 'invalid_definition'],
      [{ pipeline: ONE_MOCK, params: { nam: 1 } }, 'invalid_params'],
      [{ pipeline: ONE_MOCK, options: { cancel_event: null } }, 'invalid_options'],
      [{ pipeline: ONE_MOCK, tenant_id: '' }, 'invalid_request'],
      [{ pipeline: ONE_MOCK, tenant_id: '../x' }, 'invalid_request'],
      [{ pipeline: ONE_MOCK, tenant_id: 7 }, 'invalid_request'],
    ];
    for (const [body, code] of refused) {
      const response = await submit<ErrorBody>(body);
      expect(`${response.status} ${response.body.detail.code}`, JSON.stringify(body)).to.equal(`400 ${code}`);
    }
    const bad = await submit<ErrorBody>('pipeline: [', { 'content-type': 'application/yaml' });
    expect(bad.body.detail.problems?.[0]).to.include({ line: 1, severity: 'error' });
    expect(server.registry.list({ limit: 500 }).runs).to.have.length(before);
  });
});
