import { expect } from 'chai';
import type { RunResult } from '../../../lib/execution/results.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { EventList } from '../../../lib/execution/events/event.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';

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

const OUTPUT = [{ attempts: 1 }, { error: 'no luck' }];
const FAILURE = { task_id: 'each', error: 'no luck', attempts: 1, item: 1, collected: true };

describe('Collected errors over HTTP (D67)', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close(0));

  it('are outputs of a synchronous run, which counts them in its events', async () => {
    const body = { pipeline: createPipeline([0, 1]), collect_events: true };
    const response = await server.request<RunResult>('POST', '/pipelines/run', body);
    expect(response.status).to.equal(200);
    expect(response.body.outputs['each']).to.deep.equal(OUTPUT);
    expect(response.body.events?.at(-1)).to.deep.include({ kind: 'finish', items: 2, failed_items: 1 });
  });

  it('are failures of the record and events of the stream, although the run has succeeded', async () => {
    const accepted = await server.request<RunRecord>('POST', '/pipelines/run_async', {
      pipeline: createPipeline([0, 1]),
    });
    const path = `/pipelines/runs/${accepted.body.run_id}`;
    const { body: record } = await server.request<RunRecord>('GET', `${path}?wait=30`);
    expect(record).to.deep.include({ status: 'succeeded', error: null, failures: [FAILURE] });
    const accept = { accept: 'application/json' };
    const { body } = await server.request<EventList>('GET', `${path}/events`, undefined, accept);
    const kinds = body.events.flatMap((event) => ('failed_items' in event ? [event.kind] : []));
    expect(kinds).to.deep.equal(['finish']);
  });

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
