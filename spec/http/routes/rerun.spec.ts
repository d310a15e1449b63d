import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
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
});
