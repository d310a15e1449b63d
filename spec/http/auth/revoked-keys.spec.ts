import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { ApiKey } from '../../../lib/http/auth/authenticate.js';
import type { Reload, ReloadTarget, ServerReload } from '../../../lib/http/reload.js';
import { createApiKey } from '../../support/http/api-key.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { EventReader } from '../support/event-reader.js';

const REASON =
  'the API key was removed from the keys file of the server, or changed there; runs that it has started go on';

describe('A key that is removed while the server works (D37)', () => {
  const ann = createApiKey('ann', ['acme'], ['read', 'run']);
  const bob = createApiKey('bob', ['acme'], ['read', 'run', 'admin', 'metrics']);
  const asAnn = { 'x-api-key': 'ann' };
  const asBob = { 'x-api-key': 'bob' };
  const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'controlled', inputs: {} }] };
  let tool: ControlledTool;
  let target: ReloadTarget | undefined;
  let server: TestServer;
  let runId: string;
  let result: Reload;
  let last: Reload | undefined;

  const openReload = (given: ReloadTarget): ServerReload => {
    target = given;
    return {
      get last() {
        return last;
      },
      reload: async () => {
        last = result;
        given.onReload(result);
        return result;
      },
      watch: async () => undefined,
      close: () => undefined,
    };
  };

  beforeEach(async () => {
    tool = new ControlledTool();
    last = undefined;
    result = { at: '2026-01-01T00:00:00.000Z', cause: 'request', error: null, changes: [], needRestart: [] };
    server = await startTestServer({ keys: [ann, bob], tools: [tool.tool], openReload });
    const accepted = await server.request('POST', '/pipelines/run_async', { pipeline }, asAnn);
    runId = String(accepted.body['run_id']);
    await tool.started(1);
  });

  afterEach(() => server.close(0));

  const useKeys = (...keys: readonly ApiKey[]) => target?.useKeys(keys);
  const detailOf = ({ body }: { readonly body: Record<string, unknown> }) => body['detail'];

  it('is refused from then on, and a key that was added is accepted', async () => {
    expect(useKeys(bob, createApiKey('cyd', ['acme']))).to.deep.equal({
      added: ['cyd'],
      removed: ['ann'],
      changed: [],
    });
    expect((await server.request('GET', '/pipelines/runs', undefined, asAnn)).status).to.equal(401);
    const asCyd = { 'x-api-key': 'cyd' };
    expect((await server.request('GET', '/pipelines/runs', undefined, asCyd)).status).to.equal(200);
  });

  it('ends its event streams with an event that says why, and no stream of another key', async () => {
    const open = (headers: Record<string, string>): EventReader =>
      new EventReader(`${server.url}/pipelines/runs/${runId}/events`, { headers });
    const [own, other] = [open(asAnn), open(asBob)];
    await Promise.all([own, other].map((reader) => reader.waitUntil(() => reader.events.length > 0)));
    useKeys(bob);
    expect(await own.closed).to.equal(true);
    expect(own.named).to.deep.equal([
      { event: 'revoked', data: { code: 'unauthorized', message: REASON }, id: undefined },
    ]);
    await tool.returns(1);
    expect(await other.closed).to.equal(true);
    expect(other.named.map(({ event }) => event)).to.deep.equal(['end']);
  });

  it('ends its streams of what actors do', async () => {
    const reader = new EventReader(`${server.url}/pipelines/runs/${runId}/inspection`, { headers: asAnn });
    await reader.waitUntil(() => reader.events.length > 0);
    useKeys(bob);
    expect(await reader.closed).to.equal(true);
    expect(reader.named.map(({ event }) => event)).to.deep.equal(['revoked']);
  });

  it('ends its requests that wait for a run with 401, and the run goes on', async () => {
    const poll = server.request('GET', `/pipelines/runs/${runId}?wait=60`, undefined, asAnn);
    const run = server.request('POST', '/pipelines/run', { pipeline }, asAnn);
    await tool.started(2);
    const other = server.request('GET', `/pipelines/runs/${runId}?wait=60`, undefined, asBob);
    // The poll is at work once a later request of another connection was answered.
    await server.request('GET', '/pipelines/runs', undefined, asBob);
    useKeys(bob);
    for (const ended of [await poll, await run]) {
      expect(ended.status).to.equal(401);
      expect(detailOf(ended)).to.include({ code: 'unauthorized', message: REASON });
    }
    for (const call of tool.calls) call.resolve(1);
    expect((await other).body).to.include({ status: 'succeeded' });
  });

  it('closes its inspectors', async () => {
    const socket = new WebSocket(`${server.url.replace('http:', 'ws:')}/inspect/ws?run=${runId}`);
    const closed = new Promise<string>((resolve) => {
      socket.once('close', (code, reason) => resolve(`${code} ${String(reason)}`));
    });
    socket.once('open', () => socket.send('{"key": "ann"}'));
    await new Promise((resolve) => socket.once('message', resolve));
    useKeys(bob);
    expect(await closed).to.match(/^4401 the API key was removed/);
  });

  it('ends nothing when the key is the same', async () => {
    const reader = new EventReader(`${server.url}/pipelines/runs/${runId}/events`, { headers: asAnn });
    await reader.waitUntil(() => reader.events.length > 0);
    useKeys(ann);
    await tool.returns(1);
    await reader.closed;
    expect(reader.named.map(({ event }) => event)).to.deep.equal(['end']);
  });

  it('is read again on request of the operator, and others are refused (D37)', async () => {
    const reload = (headers: Record<string, string>) =>
      server.request('POST', '/admin/reload', undefined, headers);
    const lastOf = async () => (await server.request('GET', '/admin/reload', undefined, asBob)).body;
    expect((await reload(asAnn)).status).to.equal(403);
    expect(await lastOf()).to.deep.equal({ last: null });
    result = { ...result, changes: [{ kind: 'keys', removed: ['ann'] }], needRestart: ['SERVICE_STORE'] };
    const { needRestart: _, ...shown } = result;
    const done = await reload(asBob);
    expect(done.body).to.deep.equal({ ...shown, need_restart: ['SERVICE_STORE'] });
    expect(await lastOf()).to.deep.equal({ last: done.body });
    result = { ...result, error: 'the keys file is empty', changes: [] };
    const refused = await reload(asBob);
    expect(refused.status).to.equal(400);
    expect(detailOf(refused)).to.include({ message: 'all stays as it was: the keys file is empty' });
    const { body } = await server.request<string>('GET', '/metrics', undefined, asBob);
    expect(body).to.contain('wavetrain_config_reloads_total{result="success"} 1');
    expect(body).to.contain('wavetrain_config_reloads_total{result="failure"} 1');
  });
});
