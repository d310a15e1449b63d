import { expect } from 'chai';
import type { RunRecord } from '../../../../lib/runs/record.js';
import type { RunPage } from '../../../../lib/runs/views/run-listing.js';
import { createDisk, type Disk, MemoryStore } from '../../../runs/store/memory/memory-store.js';
import { readAsLittleAsPossible } from '../../../runs/store/memory/sparse-facts.js';
import { createApiKey } from '../../../support/http/api-key.js';
import { settle } from '../../../support/deferred.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';

const FAN_OUT = {
  id: 'fan-out',
  goal: 'Greet {{params.name}}',
  params: { name: { type: 'string', default: 'Ada' } },
  tasks: [
    { id: 'keep', tool: 'store', inputs: { key: 'k', value: [1, 2, 3] } },
    {
      id: 'each',
      tool: 'mock',
      parallel_over: '{{pipeline.inputs.list}}',
      inputs: { item: '{{item}}' },
      await: ['keep'],
    },
    { id: 'last', tool: 'mock', inputs: { all: '{{each.output}}', of: '{{params.name}}' } },
  ],
  inputs: { list: [1, 2, 3] },
};

const FAILING = {
  id: 'failing',
  goal: 'Fail',
  tasks: [
    { id: 'a', tool: 'mock' },
    { id: 'b', tool: 'fail', await: ['a'], retry: 1, retry_delay: 0.001, inputs: { message: 'no luck' } },
  ],
};

const PLAN = {
  id: 'plan',
  goal: 'Two of them',
  sub_pipelines: [
    { id: 'one', goal: 'g', stores: ['k'], pipeline: { id: 'p1', goal: 'g', tasks: [FAN_OUT.tasks[0]] } },
    {
      id: 'two',
      goal: 'g',
      reads: ['k'],
      pipeline: { id: 'p2', goal: 'g', tasks: [{ id: 't', tool: 'mock', inputs: { k: '{{session.k}}' } }] },
    },
  ],
};

/** Each view of a run, below its path. */
const VIEWS = [
  '',
  '/tasks',
  '/graph',
  '/definition',
  '/blackboard',
  '/artifacts',
  '/snapshot',
  '/events',
  '/inspection',
];

describe('A settled run that has left the memory of a server (D74)', () => {
  let disk: Disk;
  let server: TestServer;

  beforeEach(async () => {
    disk = createDisk();
    server = await open();
  });

  afterEach(() => server.close(0));

  const open = async (env: Record<string, string> = {}): Promise<TestServer> => {
    const opened = await startTestServer({ store: new MemoryStore(disk), env });
    await opened.restored;
    return opened;
  };

  async function run(path: string, body: object): Promise<RunRecord> {
    const accepted = await server.request<{ run_id: string }>('POST', path, body);
    expect(accepted.status, JSON.stringify(accepted.body)).to.equal(202);
    const { run_id } = accepted.body;
    return (await server.request<RunRecord>('GET', `/pipelines/runs/${run_id}?wait=30`)).body;
  }

  const list = async (query = ''): Promise<RunPage> =>
    (await server.request<RunPage>('GET', `/pipelines/runs${query}`)).body;

  const show = async (runId: string, detail: string): Promise<unknown[]> => {
    const json = { Accept: 'application/json' };
    const views = [...VIEWS, detail].map((view) =>
      server.request('GET', `/pipelines/runs/${runId}${view}`, undefined, json),
    );
    return (await Promise.all(views)).map(({ status, body }) => [status, body]);
  };

  for (const [title, path, body, detail] of [
    [
      'with a fan-out',
      '/pipelines/run_async',
      { pipeline: FAN_OUT, collect_events: true },
      '/tasks/each/items',
    ],
    ['that has failed', '/pipelines/run_async', { pipeline: FAILING }, '/tasks/b'],
    ['of a plan', '/plans/run_async', { plan: PLAN }, '/tasks?sub_pipeline=two'],
  ] as const) {
    it(`${title} is shown as before, in every view`, async () => {
      const { run_id: runId, settled } = await run(path, body);
      expect(settled).to.equal(true);
      const before = await show(runId, detail);
      const listed = await list();
      await server.close(0);
      server = await open();
      expect(() => server.registry.record(runId)).to.throw('there is no run');
      expect(await list()).to.deep.equal(listed);
      expect(await show(runId, detail)).to.deep.equal(before);
    });
  }

  it('is not read into memory for a page of its items, which only its tenant sees (D37)', async () => {
    const { run_id: runId } = await run('/pipelines/run_async', { pipeline: FAN_OUT });
    const path = `/pipelines/runs/${runId}/tasks/each/items`;
    const pages = ['', '?limit=1', '?limit=1&cursor=t1', '?values=false', '?whole=true&cursor=t2'];
    const showPages = async (): Promise<unknown[]> =>
      Promise.all(pages.map(async (query) => (await server.request('GET', `${path}${query}`)).body));
    const before = await showPages();
    await server.close(0);
    const keys = [createApiKey('alice', ['alice']), createApiKey('bob', ['default'])];
    const store = new MemoryStore(disk);
    readAsLittleAsPossible(store);
    server = await startTestServer({ store, keys });
    await server.restored;
    const codeOf = async (name: string, query: string): Promise<unknown> => {
      const { body } = await server.request('GET', query, undefined, { 'X-API-Key': name });
      return (body['detail'] as { readonly code?: string } | undefined)?.code;
    };
    expect(await codeOf('alice', path)).to.equal('run_not_found');
    expect(await codeOf('bob', `${path}?limit=0`)).to.equal('invalid_request');
    expect(await codeOf('bob', path.replace(runId, 'none'))).to.equal('run_not_found');
    expect(await codeOf('bob', path.replace('each', 'none'))).to.equal('task_not_found');
    const after = pages.map(async (query) => {
      const { body } = await server.request('GET', `${path}${query}`, undefined, { 'X-API-Key': 'bob' });
      return body;
    });
    expect(await Promise.all(after)).to.deep.equal(before);
    expect(() => server.registry.record(runId)).to.throw('there is no run');
    // The others read it as a whole.
    expect(await codeOf('bob', `${path}/2`)).to.equal(undefined);
    expect(server.registry.record(runId).settled).to.equal(true);
  });

  it('is rerun, found by its key and by its id, and deleted', async () => {
    const headers = { 'Idempotency-Key': 'k' };
    const submit = async () =>
      server.request<RunRecord>('POST', '/pipelines/run_async', { pipeline: FAILING }, headers);
    const { run_id: runId } = (await submit()).body;
    await server.request('GET', `/pipelines/runs/${runId}?wait=30`);
    await server.close(0);
    server = await open();
    expect((await submit()).body).to.include({ run_id: runId, status: 'failed' });
    const ids = async (query: string): Promise<string[]> =>
      (await list(query)).runs.map(({ run_id }) => run_id);
    expect(await ids(`?id=${runId.slice(-6).toUpperCase()}`)).to.deep.equal([runId]);
    expect(await ids(`?id=${runId.slice(0, 13)}`)).to.deep.equal([runId]);
    expect(await ids('?text=NO%20LUCK')).to.deep.equal([runId]);
    const again = await server.request<RunRecord>('POST', `/pipelines/runs/${runId}/rerun`, {
      from: 'failed',
    });
    expect(again.status).to.equal(202);
    await server.request('GET', `/pipelines/runs/${again.body.run_id}?wait=30`);
    expect((await server.request('DELETE', `/pipelines/runs/${runId}`)).status).to.equal(204);
    expect((await server.request('GET', `/pipelines/runs/${runId}`)).status).to.equal(404);
    expect(await ids('')).to.deep.equal([again.body.run_id]);
    expect((await submit()).body).to.include({ run_id: runId, status: 'failed' });
  });

  it('is deleted with others by a request that selects them', async () => {
    for (const pipeline of [FAILING, FAN_OUT, FAILING]) await run('/pipelines/run_async', { pipeline });
    await server.close(0);
    server = await open();
    const kept = await run('/pipelines/run_async', { pipeline: FAILING });
    const remove = async (query: string) =>
      server.request<{ deleted: number; next_cursor: string | null }>('DELETE', `/pipelines/runs${query}`);
    expect((await remove('')).status).to.equal(400);
    const before = kept.created_at;
    const { body } = await remove(`?pipeline_id=failing&finished_before=${before}`);
    expect(body).to.deep.equal({ deleted: 2, next_cursor: null });
    expect((await list()).runs.map(({ pipeline_id }) => pipeline_id)).to.deep.equal(['failing', 'fan-out']);
    expect((await remove('?status=failed')).body.deleted).to.equal(1);
    expect((await list('?counts=true')).counts).to.include({ succeeded: 1, failed: 0 });
  });

  it('is deleted by a label, or by a text that it has, but by no empty text (D76)', async () => {
    for (const team of ['ops', 'billing']) {
      await run('/pipelines/run_async', { pipeline: FAILING, labels: { team } });
    }
    const remove = async (query: string) =>
      server.request<{ deleted: number }>('DELETE', `/pipelines/runs${query}`);
    expect((await remove('?text=')).status).to.equal(400);
    expect((await remove('?label=ops')).status).to.equal(400);
    expect((await remove('?label=team:ops&label=stage:x')).body.deleted).to.equal(0);
    expect((await remove('?label=team:ops')).body.deleted).to.equal(1);
    expect((await remove('?text=no%20such%20text')).body.deleted).to.equal(0);
    expect((await list()).runs).to.have.length(1);
    expect((await remove('?text=TEAM:bill')).body.deleted).to.equal(1);
    expect((await list()).runs).to.deep.equal([]);
  });

  it('is the oldest that is kept, as the list says with the limits of the store, until it is deleted', async () => {
    const first = await run('/pipelines/run_async', { pipeline: FAILING });
    const second = await run('/pipelines/run_async', { pipeline: FAILING, tenant_id: 'other' });
    await server.close(0);
    server = await open({ SERVICE_RUN_TTL: '7d', SERVICE_STORE_BYTES: '10000000' });
    const limits = { max_age_seconds: 604_800, max_runs: 1000, max_bytes: 10_000_000 };
    expect((await list('?counts=true')).retention).to.deep.equal({ oldest: first.created_at, ...limits });
    const other = await list('?counts=true&tenant_id=other');
    expect(other.retention).to.deep.equal({ oldest: second.created_at, ...limits });
    await server.request('DELETE', `/pipelines/runs/${first.run_id}`);
    expect((await list('?counts=true')).retention?.oldest).to.equal(second.created_at);
  });

  it('gives the memory of the cache back, of which SERVICE_CACHE_RUNS says the size', async () => {
    await server.close(0);
    server = await open({ SERVICE_CACHE_RUNS: '1' });
    const value = 'x'.repeat(600_000);
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const tasks = [{ id: 'a', tool: 'mock', inputs: { of: '{{pipeline.inputs.value}}' } }];
      const pipeline = { id: 'large', goal: 'g', inputs: { value: '' }, tasks };
      ids.push((await run('/pipelines/run_async', { pipeline, inputs: { value } })).run_id);
    }
    await settle();
    const inMemory = ids.filter((id) => {
      try {
        return server.registry.record(id).settled;
      } catch {
        return false;
      }
    });
    expect(inMemory.length).to.be.lessThan(2);
    for (const id of ids) {
      const { body } = await server.request<RunRecord>('GET', `/pipelines/runs/${id}`);
      expect(body.status, JSON.stringify(body).slice(0, 300)).to.equal('succeeded');
    }
    expect((await list()).runs).to.have.length(3);
  });
});
