import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { AcceptedRun } from '../../../lib/runs/record.js';
import type { TestResponse } from '../../support/http/test-server.js';
import { ControlledServer, TWO_WAVES } from '../support/controlled-server.js';

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

  it('reuses successful outputs, from the failed task or from a named one', async () => {
    for (const from of ['failed', 'b']) {
      const again = await rerun(await failedRun(), { from });
      expect(fixture.findCall(again)).to.deep.include({ inputs: { given: 'first' } });
      await fixture.complete(again);
      const { result, events } = await fixture.poll(again);
      expect(result).to.deep.equal({
        outputs: { a: 'first', b: 'done' },
        waves_executed: 2,
        tasks_executed: 1,
      });
      expect(events?.filter(({ reused }) => reused).map(({ task_id }) => task_id)).to.include('a');
    }
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

  it('does not take the Idempotency-Key of a rerun that is refused (D36)', async () => {
    const earlier = await failedRun();
    const repeat = async (from: string): Promise<number> => {
      const headers = { 'idempotency-key': 'refused' };
      return (await fixture.server.request('POST', `/pipelines/runs/${earlier}/rerun`, { from }, headers))
        .status;
    };
    expect([await repeat('unknown'), await repeat('failed')]).to.deep.equal([400, 202]);
  });
});
