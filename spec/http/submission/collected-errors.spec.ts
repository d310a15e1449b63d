import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { suiteServer } from '../support/suite-server.js';

/** Items of which those above 0 fail. */
function createPipeline(items: readonly number[], ...more: readonly object[]): object {
  const input = { items };
  const list = { id: 'list', tool: 'transform', inputs: { input, expression: 'items' } };
  const inputs = { message: 'no luck', times: '{{item}}' };
  const each = {
    id: 'each',
    tool: 'fail',
    parallel_over: '{{list.output}}',
    on_item_error: 'collect',
    inputs,
  };
  return { id: 'collects', goal: 'go on', tasks: [list, each, ...more] };
}
const FAILURE = { task_id: 'each', error: 'no luck', attempts: 1, item: 1, collected: true };

describe('Collected errors over HTTP (D67)', () => {
  const server = suiteServer();

  it('are not what a failed run is said to have failed from', async () => {
    const fatal = { id: 'fatal', tool: 'fail', await: ['each'], inputs: { message: 'fatal' } };
    const response = await server.request<ErrorBody>('POST', '/pipelines/run', {
      pipeline: createPipeline([0, 1], fatal),
    });
    expect(response.status).to.equal(500);
    expect(response.body.detail).to.deep.include({
      message: 'task "fatal" failed: fatal',
      task_id: 'fatal',
      error: 'fatal',
      failures: [FAILURE, { task_id: 'fatal', error: 'fatal', attempts: 1 }],
    });
  });

  it('keeps a synchronous run that has collected errors, so that its failed items can be rerun (D26)', async () => {
    const { headers } = await server.request('POST', '/pipelines/run', { pipeline: createPipeline([0, 1]) });
    const id = headers.get('wavetrain-run-id') ?? '';
    const { body } = await server.request<RunRecord>('GET', `/pipelines/runs/${id}`);
    expect(body.failures).to.deep.equal([FAILURE]);
    const rerun = await server.request('POST', `/pipelines/runs/${id}/rerun`, { from: 'failed' });
    expect(rerun.status).to.equal(202);
  });
});
