import { expect } from 'chai';
import { RequestError, WavetrainClient } from '../../lib/client/index.js';
import { startTestServer, type TestServer } from '../support/http/test-server.js';
import { catchRejection } from '../support/rejection.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

const GREET =
  'pipeline: {id: greet, goal: greet, params: {name: {}}, tasks: [{id: a, tool: transform, inputs: {expression: "\'Hello, {{params.name}}\'", input: 0}}]}\n';
const NIGHTLY =
  'pipeline:\n  id: nightly\n  goal: tidy\n  schedule: "0 6 * * *"\n  tasks: [{id: a, tool: mock}]\n';

const TRIP =
  'plan:\n  id: trip\n  sub_pipelines: [{id: s, pipeline: {id: s, goal: g, tasks: [{id: a, tool: mock}]}}]\n';

describe('client.pipelines (D69)', () => {
  const folder = new TemporaryFolder();
  let server: TestServer;
  let client: WavetrainClient;

  before(async () => {
    folder.write('pipelines/greet.yaml', GREET);
    folder.write('pipelines/nightly.yaml', NIGHTLY);
    folder.write('pipelines/trip.yaml', TRIP);
    folder.write('pipelines/tenants/acme/greet.yaml', GREET);
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines'), SERVICE_PIPELINES_WRITABLE: 'true' },
    });
    await server.restored;
    client = new WavetrainClient({ url: server.url });
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  it('lists them in pages, or one after another', async () => {
    const { enabled, pipelines, next_cursor: cursor } = await client.pipelines.list({ limit: 2 });
    expect({ enabled, ids: pipelines.map(({ tenant_id, id }) => `${tenant_id}/${id}`) }).to.deep.equal({
      enabled: true,
      ids: ['acme/greet', 'default/greet'],
    });
    expect((await client.pipelines.list({ limit: 2, cursor: cursor ?? '' })).pipelines).to.have.length(2);
    const all: string[] = [];
    for await (const { id } of client.pipelines.all({ tenant_id: 'default', limit: 1 })) all.push(id);
    expect(all).to.deep.equal(['greet', 'nightly', 'trip']);
  });

  it('runs one with its params, and waits for the result or does not', async () => {
    const result = await client.pipelines.run('greet', { name: 'Ada' });
    expect(result).to.have.nested.property('outputs.a', 'Hello, Ada');
    const options = { tenant_id: 'acme', labels: { team: 'ops' }, idempotencyKey: 'once' };
    const first = await client.pipelines.submit('greet', { name: 'Bob' }, options);
    const again = await client.pipelines.submit('greet', { name: 'Bob' }, options);
    expect(again.run_id).to.equal(first.run_id);
    const record = await client.settled(first.run_id);
    expect(record).to.deep.include({ status: 'succeeded', tenant_id: 'acme', labels: { team: 'ops' } });
    expect(await catchRejection(client.pipelines.run('greet'))).to.have.property('code', 'invalid_params');
  });

  it('runs a plan, and says so of an id of the other kind', async () => {
    const result = await client.pipelines.runPlan('trip');
    expect(result).to.include({ plan_id: 'trip', total_tasks_executed: 1 });
    expect(await catchRejection(client.pipelines.run('trip'))).to.have.property(
      'message',
      '"trip" is a plan: pipelines.runPlan returns its result',
    );
    expect(await catchRejection(client.pipelines.runPlan('nightly'))).to.have.property(
      'message',
      '"nightly" is a pipeline: pipelines.run returns its result',
    );
  });

  it('shows one with its graph, and its file', async () => {
    const { params, graph } = await client.pipelines.get('greet');
    expect(params).to.deep.equal({ name: { required: true } });
    expect(graph).to.have.property('waves');
    expect(await client.pipelines.file('greet')).to.include({ file: 'greet.yaml', text: GREET });
  });

  it('pauses and resumes its schedule', async () => {
    expect(await client.pipelines.pause('nightly')).to.include({ file: 'nightly.yaml', ok: true });
    expect((await client.pipelines.get('nightly')).schedule?.paused).to.equal(true);
    await client.pipelines.resume('nightly');
    expect((await client.pipelines.get('nightly')).schedule?.paused).to.equal(false);
  });

  it('rejects with "pipeline_not_found" for an id that the server does not have, or that no path can have', async () => {
    for (const id of ['missing', 'a/b', '..', '']) {
      const error = await catchRejection(client.pipelines.run(id));
      expect(error, id).to.have.property('code', 'pipeline_not_found');
      if (id === 'missing') expect(error).to.be.instanceOf(RequestError);
    }
  });
});
