import { expect } from 'chai';
import { RequestError, WavetrainClient } from '../../../../lib/client/index.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { ItemPage, TaskPage, TaskRecord } from '../../../../lib/runs/tasks/task-record.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { catchRejection } from '../../../support/rejection.js';
import { createApiKey } from '../../../support/http/api-key.js';

/** An own tool that fails for one city, as a fetch does whose connection is refused. */
const fetchCity = defineTool({
  name: 'fetch_city',
  description: 'fetches a city',
  inputs: { city: { description: 'name', type: 'string', required: true } },
  run: ({ city }) => {
    if (city !== 'Oslo') return { city, text: 'x'.repeat(100_000) };
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
    throw new TypeError('fetch failed', { cause });
  },
});

const PIPELINE = {
  id: 'cities',
  goal: 'fetch cities',
  tasks: [
    { id: 'list', tool: 'mock', inputs: { names: ['Rome', 'Oslo', 'Bern'] } },
    {
      id: 'each',
      tool: 'fetch_city',
      parallel_over: '{{list.output.inputs.names}}',
      inputs: { city: '{{item}}' },
    },
    { id: 'last', tool: 'mock', inputs: { all: '{{each.output}}' } },
  ],
};

describe('GET /pipelines/runs/{run_id}/tasks (D59)', () => {
  let server: TestServer;
  let client: WavetrainClient;
  let runId: string;

  before(async () => {
    const keys = [
      createApiKey('runner'),
      createApiKey('reader', ['default'], ['read']),
      createApiKey('other', ['other']),
    ];
    server = await startTestServer({ tools: [fetchCity], keys });
    client = new WavetrainClient({ url: server.url, key: 'runner', retries: 0 });
    runId = (await client.submit({ pipeline: PIPELINE })).run_id;
    await client.settled(runId);
  });
  after(() => server.close(0));

  const get = <T>(path: string, key = 'runner') =>
    server.request<T & ErrorBody>('GET', `/pipelines/runs/${runId}/tasks${path}`, undefined, {
      'x-api-key': key,
    });

  it('lists the tasks with their state, inputs, output and error', async () => {
    const { status, body } = await get<TaskPage>('');
    expect(status).to.equal(200);
    expect(body.tasks.map((task) => [task.task_id, task.status])).to.deep.equal([
      ['list', 'succeeded'],
      ['each', 'failed'],
      ['last', 'skipped'],
    ]);
    expect(body.tasks[0]?.inputs).to.deep.equal({ names: ['Rome', 'Oslo', 'Bern'] });
    expect(body.tasks[1]?.items).to.include({ total: 3, failed: 1 });
    expect(await client.tasks(runId)).to.deep.equal(body);
    expect((await get<TaskPage>('?status=failed')).body.tasks).to.deep.equal([body.tasks[1]]);
  });

  it('shows an item with its inputs, its error and the causes of that', async () => {
    const { body } = await get<ItemPage>('/each/items?status=failed');
    expect(body.items).to.have.length(1);
    expect(body.items[0]).to.deep.include({ item: 1, value: 'Oslo', inputs: { city: 'Oslo' }, output: null });
    expect(body.items[0]?.error).to.deep.include({
      type: 'TypeError',
      message: 'fetch failed: connect ECONNREFUSED 127.0.0.1:9',
      causes: [{ type: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:9', code: 'ECONNREFUSED' }],
    });
    expect(await client.item(runId, 'each', 1)).to.deep.equal(body.items[0]);
    expect((await client.items(runId, 'each', { status: 'failed' })).items).to.deep.equal(body.items);
  });

  it('cuts large values with a mark, and shows them whole on request', async () => {
    const cut = (await get<TaskRecord>('/each')).body;
    expect(cut.cut).to.include('/output/0/text');
    expect((cut.output as { text: string }[])[0]?.text).to.match(/^x+ … \(100,000 characters\)$/);
    const whole = (await get<TaskRecord>('/each?whole=true')).body;
    expect(whole.cut).to.deep.equal([]);
    expect((whole.output as { text: string }[])[0]?.text).to.have.length(100_000);
    expect(await client.task(runId, 'each', { whole: true })).to.deep.equal(whole);
  });

  it('leaves inputs and outputs out on request, and then shows states, times and what items are about', async () => {
    const { body } = await get<TaskPage>('?values=false');
    expect(body.tasks.map(({ inputs, output, cut }) => [inputs, output, cut])).to.deep.equal(
      body.tasks.map(() => [null, null, []]),
    );
    expect(body.tasks[1]).to.deep.include({ task_id: 'each', status: 'failed' });
    expect(body.tasks[1]?.items).to.include({ total: 3, failed: 1 });
    const items = await get<ItemPage>('/each/items?values=false');
    expect(
      items.body.items.map(({ item, value, inputs, output }) => [item, value, inputs, output]),
    ).to.deep.equal([
      [0, 'Rome', null, null],
      [1, 'Oslo', null, null],
      [2, 'Bern', null, null],
    ]);
    expect(items.body.items[1]?.error?.message).to.include('fetch failed');
  });

  it('shows the stack of an own tool only to callers that may run it', async () => {
    const [shown, hidden] = [await get<TaskRecord>('/each'), await get<TaskRecord>('/each', 'reader')];
    expect(shown.body.error?.stack).to.match(/tasks\.spec\.ts/);
    const { stack: _, ...error } = shown.body.error ?? {};
    expect(hidden.body).to.deep.equal({ ...shown.body, error });
    expect(JSON.stringify((await get('/each/items', 'reader')).body)).not.to.contain('.spec.ts');
    expect(JSON.stringify((await get('', 'reader')).body)).not.to.contain('.spec.ts');
    expect(JSON.stringify((await get('/each/items/1', 'reader')).body)).not.to.contain('.spec.ts');
  });

  it('shows nothing to keys of other tenants', async () => {
    for (const path of ['', '/each', '/each/items', '/each/items/1']) {
      const { status, body } = await get(path, 'other');
      expect([path, status, body.detail.code]).to.deep.equal([path, 404, 'run_not_found']);
    }
  });

  it('refuses what does not exist, in words', async () => {
    const refusals = ['/nope', '/each/items/3', '/each/items/x', '/list/items/0', '?sub_pipeline=s'];
    const received = await Promise.all(refusals.map((path) => get(path)));
    expect(received.map(({ status, body }) => `${status} ${body.detail.code}`)).to.deep.equal(
      refusals.map(() => '404 task_not_found'),
    );
    expect(received[1]?.body.detail.message).to.equal('task "each" has no item 3: it has 3, counted from 0');
    expect((await get('?limit=0')).status).to.equal(400);
    expect((await get('/each?limit=1')).status).to.equal(400);
    const thrown = await catchRejection(client.task(runId, '..'));
    expect(thrown).to.include({ code: 'task_not_found' }).and.not.be.instanceOf(RequestError);
  });

  it('answers a failed POST /pipelines/run with the inputs of what failed, and the causes in the message', async () => {
    const { status, body } = await server.request<ErrorBody>(
      'POST',
      '/pipelines/run',
      { pipeline: PIPELINE },
      {
        'x-api-key': 'runner',
      },
    );
    expect(status).to.equal(500);
    expect(body.detail).to.deep.include({
      task_id: 'each',
      error: 'fetch failed: connect ECONNREFUSED 127.0.0.1:9',
      inputs: { city: 'Oslo' },
    });
  });

  it('logs where an own tool has thrown, at the level debug', () => {
    const line = server.log.find(({ level, facts }) => level === 'debug' && facts['run_id'] === runId);
    expect(line?.facts).to.include({ task_id: 'each', item: 1 });
    expect(JSON.stringify(line?.facts['err'])).to.match(/tasks\.spec\.ts/);
    const warning = server.log.find(({ level, facts }) => level === 'warn' && facts['run_id'] === runId);
    expect(warning?.facts).to.include({ task_id: 'each', item: 1 });
    expect(JSON.stringify(warning?.facts)).not.to.contain('.spec.ts');
  });
});
