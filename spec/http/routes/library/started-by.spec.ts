import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { ApiKey } from '../../../../lib/http/auth/authenticate.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import type { RunPage } from '../../../../lib/runs/views/run-listing.js';
import { createDisk, MemoryStore } from '../../../runs/store/memory-store.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const SECRET = 'a-secret-of-24-letters-';
const TASKS = 'tasks: [{id: a, tool: mock}]';
const PIPELINE = { id: 'sent', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
const PLAN = { id: 'sent', sub_pipelines: [{ id: 'a', pipeline: PIPELINE }] };

const keyOf = (name: string): ApiKey => ({
  name,
  sha256: createHash('sha256').update(name).digest('hex'),
  tenants: ['default'],
  scopes: ['read', 'run'],
});
const as = (name: string): Record<string, string> => ({ 'x-api-key': name });

describe('Who has started a run (D75)', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  before(async () => {
    folder = new TemporaryFolder();
    folder.write('pipelines/push.yaml', `pipeline: {id: push, goal: g, webhook: {secret: HOOK}, ${TASKS}}`);
    server = await open({ keys: [keyOf('ci'), keyOf('ada')] });
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  const open = async (options: Parameters<typeof startTestServer>[0]): Promise<TestServer> => {
    const opened = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines') },
      secrets: { find: () => SECRET },
      ...options,
    });
    await opened.restored;
    return opened;
  };

  const start = async (
    path: string,
    body: object,
    headers: Record<string, string> = as('ci'),
    to = server,
  ): Promise<RunRecord> => {
    const accepted = await to.request<{ run_id: string }>('POST', path, body, headers);
    expect(accepted.status, `${path} ${JSON.stringify(accepted.body)}`).to.equal(202);
    return to.registry.settled(accepted.body.run_id);
  };

  for (const [path, body] of [
    ['/pipelines/run_async', { pipeline: PIPELINE }],
    ['/plans/run_async', { plan: PLAN }],
    ['/pipelines/push/run_async', {}],
  ] as const) {
    it(`names the API key of POST ${path}`, async () => {
      const { run_id } = await start(path, body);
      const { body: record } = await server.request<RunRecord>(
        'GET',
        `/pipelines/runs/${run_id}`,
        undefined,
        as('ada'),
      );
      expect(record.started_by).to.deep.equal({ kind: 'key', name: 'ci' });
    });
  }

  it('names the key that repeats a run with an Idempotency-Key first', async () => {
    const send = (name: string): Promise<RunRecord> =>
      start('/pipelines/run_async', { pipeline: PIPELINE }, { ...as(name), 'idempotency-key': 'once' });
    const first = await send('ci');
    const again = await send('ada');
    expect(again).to.deep.include({ run_id: first.run_id, started_by: { kind: 'key', name: 'ci' } });
  });

  it('names the key that asks for a rerun, also with a changed definition', async () => {
    const { run_id } = await start('/pipelines/run_async', { pipeline: PIPELINE });
    for (const body of [{}, { pipeline: { ...PIPELINE, tasks: [{ id: 'b', tool: 'mock' }] } }]) {
      const rerun = await start(`/pipelines/runs/${run_id}/rerun`, body, as('ada'));
      expect(rerun).to.deep.include({ rerun_of: run_id, started_by: { kind: 'key', name: 'ada' } });
    }
  });

  it('names the definition of a webhook', async () => {
    const record = await start('/pipelines/push/webhook', {}, { 'x-webhook-token': SECRET });
    expect(record.started_by).to.deep.equal({ kind: 'webhook', name: 'push' });
  });

  it('is anonymous on a server without keys', async () => {
    const anonymous = await open({});
    try {
      const record = await start('/pipelines/run_async', { pipeline: PIPELINE }, {}, anonymous);
      expect(record.started_by).to.deep.equal({ kind: 'anonymous', name: null });
    } finally {
      await anonymous.close(0);
    }
  });

  it('cannot be set by a request', async () => {
    const body = { pipeline: PIPELINE, started_by: { kind: 'key', name: 'ada' } };
    const refused = await server.request<ErrorBody>('POST', '/pipelines/run_async', body, as('ci'));
    expect(refused.status).to.equal(400);
    expect(refused.body.detail.message).to.contain('started_by');
  });

  it('filters the list by kind, and by kind and name (D35)', async () => {
    await start('/pipelines/run_async', { pipeline: PIPELINE }, as('ada'));
    await start('/pipelines/push/webhook', {}, { 'x-webhook-token': SECRET });
    const list = async (filter: string): Promise<readonly string[]> => {
      const path = `/pipelines/runs?limit=500&started_by=${encodeURIComponent(filter)}`;
      const { body } = await server.request<RunPage>('GET', path, undefined, as('ada'));
      return [...new Set(body.runs.map(({ started_by: { kind, name } }) => `${kind} ${name}`))];
    };
    expect(await list('key')).to.have.members(['key ci', 'key ada']);
    expect(await list('key:ada')).to.deep.equal(['key ada']);
    expect(await list('webhook')).to.deep.equal(['webhook push']);
    expect(await list('key:nobody')).to.deep.equal([]);
    const unknown = await server.request<ErrorBody>(
      'GET',
      '/pipelines/runs?started_by=nobody',
      undefined,
      as('ada'),
    );
    expect(unknown.status).to.equal(400);
    expect(unknown.body.detail.message).to.contain('"started_by" must be one of key, anonymous, schedule');
  });

  it('is the same after a restart (D68)', async () => {
    const disk = createDisk();
    const keys = [keyOf('ci'), keyOf('ada')];
    const first = await open({ keys, store: new MemoryStore(disk) });
    const { run_id } = await start('/pipelines/run_async', { pipeline: PIPELINE }, as('ci'), first);
    const rerun = await start(`/pipelines/runs/${run_id}/rerun`, {}, as('ada'), first);
    const hook = await start('/pipelines/push/webhook', {}, { 'x-webhook-token': SECRET }, first);
    const old = await start('/pipelines/push/webhook', {}, { 'x-webhook-token': SECRET }, first);
    await first.close(0);
    const [submission = '', ...facts] = disk.documents.get(old.run_id) ?? [];
    const { started_by: _, ...before } = JSON.parse(submission) as Record<string, unknown>;
    disk.documents.set(old.run_id, [JSON.stringify(before), ...facts]);
    const second = await open({ keys, store: new MemoryStore(disk) });
    try {
      const read = (id: string): RunRecord['started_by'] => second.registry.record(id).started_by;
      expect(read(run_id)).to.deep.equal({ kind: 'key', name: 'ci' });
      expect(read(rerun.run_id)).to.deep.equal({ kind: 'key', name: 'ada' });
      expect(read(hook.run_id)).to.deep.equal({ kind: 'webhook', name: 'push' });
      expect(read(old.run_id), 'kept by an earlier version').to.deep.equal({ kind: 'webhook', name: 'push' });
    } finally {
      await second.close(0);
    }
  });
});
