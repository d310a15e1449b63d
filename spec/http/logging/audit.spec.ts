import { expect } from 'chai';
import type { AuditEntry, AuditPage } from '../../../lib/audit/audit-entry.js';
import { AUDITED_ROUTES, UNAUDITED_ROUTES } from '../../../lib/http/logging/audit/audited-routes.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { createApiKey } from '../../support/http/api-key.js';
import { createRouteTable } from '../../support/http/route-table.js';
import { startTestServer, type TestServer, type TestServerOptions } from '../../support/http/test-server.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

const ALL = createApiKey('root', ['*'], ['read', 'run', 'edit', 'admin']);
const CI = createApiKey('ci', ['acme'], ['read', 'run']);
const READER = createApiKey('reader', ['acme'], ['read']);

describe('the audit of a server (D95)', () => {
  const folder = useTemporaryFolder();
  let server: TestServer;

  afterEach(async () => server.close(0));

  const list = async (query = '', key = 'root'): Promise<readonly AuditEntry[]> => {
    const { status, body } = await server.request<AuditPage>(
      'GET',
      `/admin/audit${query}`,
      undefined,
      bearer(key),
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.entries;
  };

  const start = async (options: TestServerOptions = {}): Promise<void> => {
    server = await startTestServer({ keys: [ALL, CI, READER], ...options });
  };

  const submit = async (key: string, pipeline: object = HELLO): Promise<string> => {
    const { status, body } = await server.request<{ run_id: string }>(
      'POST',
      '/pipelines/run_async',
      { pipeline },
      bearer(key),
    );
    expect(status, JSON.stringify(body)).to.equal(202);
    await server.registry.settled(body.run_id);
    return body.run_id;
  };

  it('lists who has submitted a run, of which pipeline, and from where, also without keys', async () => {
    server = await startTestServer();
    const run = await server.request('POST', '/pipelines/run', { pipeline: HELLO });
    const [entry, ...others] = await list();
    expect(others).to.deep.equal([]);
    expect(entry).to.deep.include({
      who: { kind: 'anonymous', name: null },
      action: 'submit',
      object: { kind: 'run', id: run.headers.get('wavetrain-run-id') },
      tenant_id: 'default',
      address: '127.0.0.1',
      result: 'ok',
      status: null,
      code: null,
      details: { pipeline: ['hello'] },
      count: 1,
    });
  });

  it('lists reruns, cancels and deletions with their runs, newest first, and previews not at all', async () => {
    await start();
    const runId = await submit('ci');
    const path = `/pipelines/runs/${runId}`;
    await server.request('POST', `${path}/rerun/preview`, {}, bearer('ci'));
    const rerun = await server.request<{ run_id: string }>('POST', `${path}/rerun`, {}, bearer('ci'));
    await server.registry.settled(rerun.body.run_id);
    await server.request('POST', `${path}/cancel`, {}, bearer('ci'));
    await server.request('DELETE', path, undefined, bearer('ci'));
    const entries = await list();
    expect(
      entries.map(({ action, object, result, status }) => [action, object.id, result, status]),
    ).to.deep.equal([
      ['delete', runId, 'ok', null],
      ['cancel', runId, 'refused', 400],
      ['rerun', rerun.body.run_id, 'ok', null],
      ['submit', runId, 'ok', null],
    ]);
    expect(entries[2]?.details).to.deep.equal({ pipeline: ['hello'], rerun_of: [runId] });
    expect(entries.map(({ who, tenant_id }) => [who.name, tenant_id])).to.deep.equal(
      entries.map(() => ['ci', 'acme']),
    );
  });

  it('says how many runs were deleted, by which filters, and repeats no searched text', async () => {
    await start();
    await submit('ci');
    await submit('ci');
    await server.request('DELETE', '/pipelines/runs?status=succeeded&text=HELLO', undefined, bearer('ci'));
    await server.request('DELETE', '/pipelines/runs?status=succeeded', undefined, bearer('ci'));
    const [entry, ...others] = await list('?action=delete');
    expect(others).to.deep.equal([]);
    expect(entry).to.deep.include({
      object: { kind: 'runs', id: null },
      count: 2,
      details: { filters: ['status=succeeded', 'text'] },
    });
  });

  it('names the secrets that a run is given, and never their values', async () => {
    const find = (_tenant: string, name: string) => (name === 'TOKEN' ? 'sesame-open-1234' : undefined);
    await start({ secrets: { find } });
    const task = { id: 'greet', tool: 'mock', inputs: { text: '{{secrets.TOKEN}}' } };
    const runId = await submit('ci', { ...HELLO, tasks: [task] });
    const [entry] = await list('?action=read_secrets');
    expect(entry).to.deep.include({
      who: { kind: 'key', name: 'ci' },
      object: { kind: 'run', id: runId },
      details: { pipeline: ['hello'], secrets: ['TOKEN'] },
    });
    expect(JSON.stringify(await list())).not.to.include('sesame');
  });

  it('lists attempts without a valid key, or without the scope, with their status', async () => {
    await start();
    await server.request('GET', '/pipelines/runs');
    await server.request('POST', '/pipelines/run', { pipeline: HELLO }, bearer('guessed'));
    await server.request('POST', '/pipelines/run', { pipeline: HELLO }, bearer('reader'));
    const entries = await list();
    expect(
      entries.map((entry) => [entry.who, entry.action, entry.object, entry.status, entry.tenant_id]),
    ).to.deep.equal([
      [{ kind: 'key', name: 'reader' }, 'submit', { kind: 'pipeline', id: null }, 403, 'acme'],
      [{ kind: 'anonymous', name: null }, 'submit', { kind: 'pipeline', id: null }, 401, null],
      [{ kind: 'anonymous', name: null }, 'access', { kind: 'path', id: '/pipelines/runs' }, 401, null],
    ]);
  });

  it('lists a refused submission with its code, as an attempt of the tenant of its key', async () => {
    await start();
    await server.request('POST', '/pipelines/run_async', { pipeline: {} }, bearer('ci'));
    await server.request(
      'POST',
      '/pipelines/run_async',
      { pipeline: HELLO, tenant_id: 'other' },
      bearer('ci'),
    );
    const entries = await list();
    expect(entries.map(({ code, result, tenant_id }) => [code, result, tenant_id])).to.deep.equal([
      ['forbidden', 'refused', 'acme'],
      ['invalid_definition', 'refused', 'acme'],
    ]);
  });

  it('does not call a run that has failed a refused submission', async () => {
    await start({ tools: [FAILING] });
    const failing = { ...HELLO, tasks: [{ id: 'fail', tool: 'fail' }] };
    const { status } = await server.request('POST', '/pipelines/run', { pipeline: failing }, bearer('root'));
    expect(status).to.equal(500);
    expect((await list()).map(({ action, result }) => [action, result])).to.deep.equal([['submit', 'ok']]);
  });

  it('lists saved files with their versions, and pauses', async () => {
    folder.write('pipelines/tenants/acme/nightly.yaml', NIGHTLY);
    await start({ env: { SERVICE_PIPELINES: folder.at('pipelines'), SERVICE_PIPELINES_WRITABLE: 'true' } });
    const path = '/pipelines/nightly';
    const pause = await server.request<{ version: string }>(
      'POST',
      `${path}/pause`,
      { tenant_id: 'acme' },
      bearer('root'),
    );
    expect(pause.status, JSON.stringify(pause.body)).to.equal(200);
    const save = { text: NIGHTLY, tenant_id: 'acme' };
    await server.request('PUT', `${path}/file`, save, { ...bearer('root'), 'If-Match': '"old"' });
    const entries = await list('?object=pipeline:nightly');
    expect(entries.map((entry) => [entry.action, entry.tenant_id, entry.code, entry.details])).to.deep.equal([
      ['save', 'default', 'file_changed', {}],
      ['pause', 'acme', null, { version: [pause.body.version] }],
    ]);
  });

  it('filters by who, action, object, result, tenant and time, and goes on at a cursor', async () => {
    await start();
    const first = await submit('ci');
    await submit('root');
    await server.request('POST', '/pipelines/run', { pipeline: HELLO }, bearer('reader'));
    const count = async (query: string) => (await list(`?${query}`)).length;
    expect(await count('who=key')).to.equal(3);
    expect(await count('who=key:ci')).to.equal(1);
    expect(await count('who=schedule')).to.equal(0);
    expect(await count(`object=run:${first}`)).to.equal(1);
    expect(await count('result=refused')).to.equal(1);
    expect(await count('tenant_id=acme')).to.equal(2);
    expect(await count('from=2999-01-01T00:00:00Z')).to.equal(0);
    expect(await count('to=2001-01-01T00:00:00Z')).to.equal(0);
    const { body } = await server.request<AuditPage>(
      'GET',
      '/admin/audit?limit=2',
      undefined,
      bearer('root'),
    );
    const rest = await list(`?limit=2&cursor=${body.next_cursor}`);
    expect([...body.entries, ...rest].map(({ id }) => id)).to.deep.equal((await list()).map(({ id }) => id));
    expect(rest).to.have.length(1);
  });

  for (const [query, parameter] of [
    ['who=nobody', 'who'],
    ['object=thing:1', 'object'],
    ['from=yesterday', 'from'],
    ['cursor=abc', 'cursor'],
  ]) {
    it(`refuses ${query} with the name of the parameter`, async () => {
      await start();
      const { status, body } = await server.request<Refusal>(
        'GET',
        `/admin/audit?${query}`,
        undefined,
        bearer('root'),
      );
      expect(status).to.equal(400);
      expect(body.detail.message).to.include(`"${parameter}"`);
    });
  }

  it('shows its list to keys with the scope "admin" alone', async () => {
    await start();
    const { status, body } = await server.request<Refusal>('GET', '/admin/audit', undefined, bearer('ci'));
    expect([status, body.detail.message]).to.deep.equal([403, 'this key lacks the scope "admin"']);
  });

  it('passes each entry to a collector, as it is listed', async () => {
    const lines: AuditEntry[] = [];
    await start({ auditLines: { write: (entry) => void lines.push(entry), close: async () => {} } });
    await submit('ci');
    expect(lines).to.deep.equal(await list());
  });

  it('knows every route that does more than read', async () => {
    await start();
    const changing = createRouteTable()
      .filter(({ method }) => method !== 'GET')
      .map(({ id }) => id);
    const known = [...Object.keys(AUDITED_ROUTES), ...UNAUDITED_ROUTES];
    expect(changing.toSorted()).to.deep.equal(known.toSorted());
  });
});

const FAILING = defineTool({
  name: 'fail',
  description: 'fails',
  inputs: {},
  run: () => {
    throw new Error('no luck');
  },
});

interface Refusal {
  readonly detail: { readonly message: string };
}

const HELLO = { id: 'hello', goal: 'greet', tasks: [{ id: 'greet', tool: 'mock' }] };

const NIGHTLY = `pipeline:
  id: nightly
  goal: greet
  schedule: 0 3 * * *
  tasks:
    - id: greet
      tool: mock
`;

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}
