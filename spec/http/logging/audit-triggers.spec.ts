import { expect } from 'chai';
import type { AuditEntry, AuditPage } from '../../../lib/audit/audit-entry.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { createApiKey } from '../../support/http/api-key.js';
import { settle } from '../../support/deferred.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { ManualClock } from '../../support/manual-clock.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

const SECRET = 'a-secret-of-24-letters-';
const ROOT = createApiKey('root', ['*'], ['read', 'run', 'admin']);
const HOUR_MS = 3_600_000;

describe('The audit of runs that no key starts (D95)', () => {
  const folder = useTemporaryFolder();
  const clock = new ManualClock();
  let controlled: ControlledTool;
  let server: TestServer;

  beforeEach(async () => {
    controlled = new ControlledTool();
    folder.write(
      'push.yaml',
      'pipeline: {id: push, goal: g, webhook: {secret: HOOK}, tasks: [{id: a, tool: mock}]}',
    );
    folder.write(
      'hourly.yaml',
      'pipeline: {id: hourly, goal: g, schedule: "0 * * * *", overlap: skip, tasks: [{id: a, tool: controlled}]}',
    );
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.path },
      secrets: { find: () => SECRET },
      tools: [controlled.tool],
      keys: [ROOT],
      clock,
    });
    await server.restored;
  });
  afterEach(() => server.close(0));

  const list = async (query: string): Promise<readonly AuditEntry[]> =>
    (await server.request<AuditPage>('GET', `/admin/audit?${query}`, undefined, { 'x-api-key': 'root' })).body
      .entries;

  /** Resolves with the entries once there are so many. */
  const untilListed = async (query: string, count: number): Promise<readonly AuditEntry[]> => {
    for (;;) {
      const entries = await list(query);
      if (entries.length >= count) return entries;
      await settle(1);
    }
  };

  it('names the webhook of a definition, and the address that called it', async () => {
    const accepted = await server.request<{ run_id: string }>(
      'POST',
      '/pipelines/push/webhook',
      {},
      { 'x-webhook-token': SECRET },
    );
    const [entry, ...others] = await list('who=webhook:push');
    expect(others).to.deep.equal([]);
    expect(entry).to.deep.include({
      action: 'submit',
      object: { kind: 'run', id: accepted.body.run_id },
      tenant_id: 'default',
      address: '127.0.0.1',
      result: 'ok',
      details: { pipeline: ['push'] },
    });
    await server.registry.settled(accepted.body.run_id);
  });

  it('names the webhook that was called without its secret, as an attempt at the things of no tenant', async () => {
    await server.request('POST', '/pipelines/push/webhook', {}, { 'x-webhook-token': 'guessed' });
    expect((await list('who=webhook:push'))[0]).to.deep.include({
      action: 'submit',
      object: { kind: 'pipeline', id: 'push' },
      tenant_id: null,
      address: '127.0.0.1',
      result: 'refused',
      status: 404,
      code: 'pipeline_not_found',
    });
  });

  it('names the schedule of a run, and the one that has started none because the last run is at work', async () => {
    clock.advance(HOUR_MS);
    const [started] = await untilListed('who=schedule:hourly', 1);
    expect(started).to.deep.include({
      who: { kind: 'schedule', name: 'hourly' },
      action: 'submit',
      tenant_id: 'default',
      address: null,
      result: 'ok',
      details: { pipeline: ['hourly'] },
    });
    await controlled.started(1);
    clock.advance(HOUR_MS);
    const [skipped] = await untilListed('who=schedule:hourly', 2);
    expect(skipped).to.deep.include({
      object: { kind: 'pipeline', id: 'hourly' },
      result: 'refused',
      status: null,
      details: { outcome: ['skipped'] },
    });
    await controlled.returns({});
    await server.registry.settled(started?.object.id ?? '');
  });
});
