import { expect } from 'chai';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { RunSummary } from '../../../../lib/common/wire/run-summary.js';
import { ControlledServer, TWO_WAVES } from '../../support/controlled-server.js';

const TOO_LONG = {
  status: 'failed',
  settled: true,
  error: 'the run took longer than its timeout of 5s',
  error_code: 'run_timeout',
  failed_task: null,
};

describe('A run over HTTP that takes longer than its timeout (D81)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  it('has error_code in its record, and in the list of runs', async () => {
    const runId = await fixture.submit({ ...TWO_WAVES, timeout: '5s' });
    expect((await fixture.poll(runId)).error_code).to.equal(null);
    fixture.clock.advance(5000);
    await fixture.waitUntilIdle();
    expect(await fixture.poll(runId)).to.deep.include({
      ...TOO_LONG,
      failures: [{ task_id: 'a', error: 'stopped by force', attempts: 1 }],
    });
    const { body } = await fixture.request<{ runs: RunSummary[] }>('GET', '/pipelines/runs');
    expect(body.runs).to.have.length(1);
    expect(body.runs[0]).to.deep.include(TOO_LONG);
  });

  it('fails a synchronous request with the code run_timeout', async () => {
    const responding = fixture.request<ErrorBody>('POST', '/pipelines/run', {
      pipeline: { ...TWO_WAVES, timeout: '5s' },
    });
    await fixture.controlled.started(1);
    await fixture.waitUntilIdle();
    fixture.clock.advance(5000);
    const { status, body } = await responding;
    expect(status).to.equal(500);
    expect(body.detail).to.deep.include({
      code: 'run_timeout',
      message: TOO_LONG.error,
      error: TOO_LONG.error,
    });
  });

  it('counts no time in the queue', async () => {
    const first = await fixture.submit();
    const second = await fixture.submit({ ...TWO_WAVES, timeout: '5s' });
    fixture.clock.advance(10_000);
    await fixture.waitUntilIdle();
    expect((await fixture.poll(second)).status).to.equal('queued');
    await fixture.complete(first);
    await fixture.complete(first);
    fixture.clock.advance(4999);
    await fixture.waitUntilIdle();
    expect((await fixture.poll(second)).status).to.equal('running');
    fixture.clock.advance(1);
    await fixture.waitUntilIdle();
    expect(await fixture.poll(second)).to.deep.include(TOO_LONG);
  });
});
