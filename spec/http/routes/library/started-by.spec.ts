import { expect } from 'chai';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import type { RunPage } from '../../../../lib/runs/views/run-listing.js';
import { createDisk, MemoryStore } from '../../../runs/store/memory/memory-store.js';
import { createApiKey } from '../../../support/http/api-key.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const SECRET = 'a-secret-of-24-letters-';
const TOKEN = { 'x-webhook-token': SECRET };
const KEYS = [createApiKey('ci'), createApiKey('ada')];
const TASKS = 'tasks: [{id: a, tool: mock}]';
const PIPELINE = { id: 'sent', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
const PLAN = { id: 'sent', sub_pipelines: [{ id: 'a', pipeline: PIPELINE }] };

const as = (name: string): Record<string, string> => ({ 'x-api-key': name });

describe('Who has started a run (D75), and its trigger (D28, D71)', () => {
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
    server = await open({ keys: KEYS });
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

  /** Starts a run, waits until it has settled, and reads its record. */
  const start = async (
    path: string,
    body: object,
    headers: Record<string, string> = as('ci'),
    to = server,
  ): Promise<RunRecord> => {
    const accepted = await to.request<{ run_id: string }>('POST', path, body, headers);
    expect(accepted.status, `${path} ${JSON.stringify(accepted.body)}`).to.equal(202);
    const { run_id } = accepted.body;
    await to.registry.settled(run_id);
    return (await to.request<RunRecord>('GET', `/pipelines/runs/${run_id}`, undefined, as('ada'))).body;
  };
  const list = async (query: string): Promise<RunPage> =>
    (await server.request<RunPage>('GET', `/pipelines/runs?limit=500&${query}`, undefined, as('ada'))).body;
  /** The error of a request that the server refuses. */
  const refusal = async (method: string, path: string, body?: object): Promise<string> => {
    const refused = await server.request<ErrorBody>(method, path, body, as('ci'));
    expect(refused.status, path).to.equal(400);
    return refused.body.detail.message;
  };

  for (const [path, body] of [
    ['/pipelines/run_async', { pipeline: PIPELINE }],
    ['/plans/run_async', { plan: PLAN }],
    ['/pipelines/push/run_async', {}],
  ] as const) {
    it(`is the API key of POST ${path}, without a trigger`, async () => {
      const record = await start(path, body);
      expect(record).to.deep.include({ started_by: { kind: 'key', name: 'ci' }, trigger: null });
    });
  }

  it('is the key that repeats a run with an Idempotency-Key first', async () => {
    const send = (name: string): Promise<RunRecord> =>
      start('/pipelines/run_async', { pipeline: PIPELINE }, { ...as(name), 'idempotency-key': 'once' });
    const first = await send('ci');
    const again = await send('ada');
    expect(again).to.deep.include({ run_id: first.run_id, started_by: { kind: 'key', name: 'ci' } });
  });

  it('is the key that asks for a rerun, also with a changed definition and of a run of a webhook', async () => {
    const sent = await start('/pipelines/run_async', { pipeline: PIPELINE });
    const hooked = await start('/pipelines/push/webhook', {}, TOKEN);
    for (const [{ run_id }, body] of [
      [sent, {}],
      [sent, { pipeline: { ...PIPELINE, tasks: [{ id: 'b', tool: 'mock' }] } }],
      [hooked, {}],
    ] as const) {
      const rerun = await start(`/pipelines/runs/${run_id}/rerun`, body, as('ada'));
      expect(rerun).to.deep.include({
        rerun_of: run_id,
        started_by: { kind: 'key', name: 'ada' },
        trigger: null,
      });
    }
  });

  it('is the definition of a webhook, whose runs have the trigger "webhook", whatever its body says', async () => {
    for (const [path, body, headers] of [
      ['push', {}, {}],
      ['push', { trigger: 'schedule' }, {}],
      ['push', {}, { 'x-github-delivery': 'first' }],
      ['both', {}, {}],
    ] as const) {
      const run = await start(`/pipelines/${path}/webhook`, body, { ...TOKEN, ...headers });
      expect(run).to.deep.include({ trigger: 'webhook', started_by: { kind: 'webhook', name: path } });
    }
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

  it('can be set by no body of a request that starts a run', async () => {
    const { run_id } = await start('/pipelines/push/run_async', {});
    for (const [path, body] of [
      ['/pipelines/run', { pipeline: PIPELINE }],
      ['/pipelines/run_async', { pipeline: PIPELINE }],
      ['/plans/run', { plan: PLAN }],
      ['/plans/run_async', { plan: PLAN }],
      ['/pipelines/push/run', {}],
      ['/pipelines/push/run_async', {}],
      [`/pipelines/runs/${run_id}/rerun`, {}],
    ] as const) {
      expect(await refusal('POST', path, { ...body, trigger: 'schedule' })).to.contain('trigger');
      const startedBy = { kind: 'key', name: 'ada' };
      expect(await refusal('POST', path, { ...body, started_by: startedBy })).to.contain('started_by');
    }
  });

  it('filters the list by kind, by kind and name, and by trigger, and what is counted with it (D35)', async () => {
    await start('/pipelines/run_async', { pipeline: PIPELINE }, as('ada'));
    await start('/pipelines/push/webhook', {}, TOKEN);
    const starters = async (filter: string): Promise<readonly string[]> => {
      const { runs } = await list(`started_by=${encodeURIComponent(filter)}`);
      return [...new Set(runs.map(({ started_by: { kind, name } }) => `${kind} ${name}`))];
    };
    expect(await starters('key')).to.have.members(['key ci', 'key ada']);
    expect(await starters('key:ada')).to.deep.equal(['key ada']);
    expect(await starters('webhook')).to.include('webhook push');
    expect(await starters('key:nobody')).to.deep.equal([]);
    const triggered = await list('trigger=webhook&counts=true');
    expect([...new Set(triggered.runs.map(({ trigger }) => trigger))]).to.deep.equal(['webhook']);
    expect(triggered.counts?.succeeded).to.equal(triggered.runs.length);
    expect((await list('trigger=schedule')).runs).to.deep.equal([]);
    expect(await refusal('GET', '/pipelines/runs?started_by=nobody')).to.contain(
      '"started_by" must be one of key, anonymous, schedule',
    );
    expect(await refusal('GET', '/pipelines/runs?trigger=none')).to.contain('trigger');
  });

  it('is the same after a restart; of a run that an earlier version has kept, only the webhook is known (D68)', async () => {
    const disk = createDisk();
    const first = await open({ keys: KEYS, store: new MemoryStore(disk) });
    const sent = await start('/pipelines/run_async', { pipeline: PIPELINE }, as('ci'), first);
    const rerun = await start(`/pipelines/runs/${sent.run_id}/rerun`, {}, as('ada'), first);
    const hook = await start('/pipelines/push/webhook', {}, TOKEN, first);
    const plan = await start('/pipelines/both/webhook', {}, TOKEN, first);
    const [old, older] = [
      await start('/pipelines/push/webhook', {}, TOKEN, first),
      await start('/pipelines/push/webhook', {}, TOKEN, first),
    ];
    await first.close(0);
    const forget = (runId: string, field: 'started_by' | 'trigger'): void => {
      const [submission = '', ...facts] = disk.documents.get(runId) ?? [];
      const { [field]: _, ...before } = JSON.parse(submission) as Record<string, unknown>;
      disk.documents.set(runId, [JSON.stringify(before), ...facts]);
      // An earlier version has kept no end for lists either.
      disk.ends.delete(runId);
    };
    forget(old.run_id, 'started_by');
    forget(older.run_id, 'trigger');
    const second = await open({ keys: KEYS, store: new MemoryStore(disk) });
    try {
      for (const { run_id } of [sent, rerun, hook, plan, old, older])
        await second.registry.queries.open(run_id, null);
      const read = ({ run_id }: RunRecord): string => {
        const { started_by: by, trigger } = second.registry.record(run_id);
        return `${by.kind} ${by.name}, ${trigger}`;
      };
      expect([sent, rerun, hook, plan].map(read)).to.deep.equal([
        'key ci, null',
        'key ada, null',
        'webhook push, webhook',
        'webhook both, webhook',
      ]);
      expect(read(old)).to.equal('webhook push, webhook');
      expect(second.registry.record(older.run_id).trigger).to.equal(null);
    } finally {
      await second.close(0);
    }
  });
});
