import { expect } from 'chai';
import type { SecretSource } from '../../../../lib/definition/secrets/run-secrets.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import type { RunPage } from '../../../../lib/runs/views/run-listing.js';
import { createDisk, MemoryStore } from '../../../runs/store/memory-store.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const SECRET = 'a-secret-of-24-letters-';
const TOKEN = { 'x-webhook-token': SECRET };
const secrets: SecretSource = { find: () => SECRET };

const TASKS = 'tasks: [{id: a, tool: mock}]';
const PIPELINE = { id: 'sent', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
const PLAN = { id: 'sent', sub_pipelines: [{ id: 'a', pipeline: PIPELINE }] };

describe('The trigger of a run (D28, D71)', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  before(async () => {
    folder = new TemporaryFolder();
    folder.write(
      'pipelines/push.yaml',
      `pipeline: {id: push, goal: g, webhook: {secret: HOOK}, params: {trigger: {type: string, default: none}}, ${TASKS}}`,
    );
    folder.write(
      'pipelines/both.yaml',
      `plan: {id: both, webhook: {secret: HOOK}, sub_pipelines: [{id: a, pipeline: {id: a, goal: g, ${TASKS}}}]}`,
    );
    server = await open();
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  const open = async (store?: MemoryStore): Promise<TestServer> => {
    const opened = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines') },
      secrets,
      store,
    });
    await opened.restored;
    return opened;
  };

  /** Starts a run, and waits until it has settled. */
  const start = async (
    path: string,
    body: object = {},
    headers: Record<string, string> = {},
    to = server,
  ): Promise<RunRecord> => {
    const accepted = await to.request<{ run_id: string }>('POST', `/pipelines/${path}`, body, headers);
    expect(accepted.status, `${path} ${JSON.stringify(accepted.body)}`).to.equal(202);
    const { run_id } = accepted.body;
    await to.registry.settled(run_id);
    return (await to.request<RunRecord>('GET', `/pipelines/runs/${run_id}`)).body;
  };
  const list = async (query: string): Promise<RunPage> =>
    (await server.request<RunPage>('GET', `/pipelines/runs?${query}`)).body;

  it('is "webhook" for a pipeline and a plan that a webhook has started, whatever its body says', async () => {
    for (const run of [
      await start('push/webhook', {}, TOKEN),
      await start('push/webhook', { trigger: 'schedule' }, TOKEN),
      await start('push/webhook', {}, { ...TOKEN, 'x-github-delivery': 'first' }),
      await start('both/webhook', {}, TOKEN),
    ]) {
      expect(run.trigger, run.pipeline_id).to.equal('webhook');
    }
  });

  it('is null for the same definition when a request has started it, and for a rerun (D35)', async () => {
    expect((await start('push/run_async')).trigger).to.equal(null);
    const { run_id } = await start('push/webhook', {}, TOKEN);
    const rerun = await start(`runs/${run_id}/rerun`);
    expect(rerun).to.include({ rerun_of: run_id, trigger: null });
  });

  it('can be set by no body of a request that starts a run', async () => {
    const { run_id } = await start('push/run_async');
    for (const [path, body] of [
      ['/pipelines/run', { pipeline: PIPELINE }],
      ['/pipelines/run_async', { pipeline: PIPELINE }],
      ['/plans/run', { plan: PLAN }],
      ['/plans/run_async', { plan: PLAN }],
      ['/pipelines/push/run', {}],
      ['/pipelines/push/run_async', {}],
      [`/pipelines/runs/${run_id}/rerun`, {}],
    ] as const) {
      const refused = await server.request<ErrorBody>('POST', path, { ...body, trigger: 'schedule' });
      expect(refused.status, path).to.equal(400);
      expect(refused.body.detail.message, path).to.contain('trigger');
    }
  });

  it('filters the list, and what is counted with it (D35)', async () => {
    await start('push/run_async');
    await start('push/webhook', {}, TOKEN);
    const started = await list('trigger=webhook&counts=true&limit=500');
    expect(started.runs.map(({ trigger }) => trigger))
      .to.include('webhook')
      .and.not.include(null);
    expect(started.counts?.succeeded).to.equal(started.runs.length);
    expect((await list('limit=500')).runs.map(({ trigger }) => trigger)).to.include(null);
    expect((await list('trigger=schedule')).runs).to.deep.equal([]);
    expect((await server.request('GET', '/pipelines/runs?trigger=none')).status).to.equal(400);
  });

  it('is the same after a restart; of a run that an earlier version has kept, it is null (D68)', async () => {
    const disk = createDisk();
    const first = await open(new MemoryStore(disk));
    const run = await start('push/webhook', {}, TOKEN, first);
    const plan = await start('both/webhook', {}, TOKEN, first);
    const old = await start('push/webhook', {}, TOKEN, first);
    await first.close(0);
    const [submission = '', ...facts] = disk.documents.get(old.run_id) ?? [];
    const { trigger, ...before } = JSON.parse(submission) as Record<string, unknown>;
    expect(trigger).to.equal('webhook');
    disk.documents.set(old.run_id, [JSON.stringify(before), ...facts]);
    const second = await open(new MemoryStore(disk));
    try {
      for (const { run_id } of [run, plan]) {
        expect(second.registry.record(run_id).trigger).to.equal('webhook');
      }
      expect(second.registry.record(old.run_id).trigger).to.equal(null);
    } finally {
      await second.close(0);
    }
  });
});
