import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { NamedPipeline } from '../../../../lib/library/named-pipeline.js';
import type { SecretSource } from '../../../../lib/definition/secrets/run-secrets.js';
import { ControlledTool } from '../../../support/controlled-tool.js';
import { startTestServer, type TestResponse, type TestServer } from '../../../support/http/test-server.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const SECRET = 'a-secret-of-24-letters-';
const SHORT = 'short';

const SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  default: { HOOK: SECRET, SHORT },
  acme: { HOOK: 'another-secret-of-acme' },
};

const secrets: SecretSource = { find: (tenantId, name) => SECRETS[tenantId]?.[name] };

const pipeline = (id: string, webhook: string): string =>
  `pipeline: {id: ${id}, goal: g, ${webhook}, params: {name: {type: string, default: nobody}, ref: {type: string, default: none}}, inputs: {event: null}, tasks: [{id: a, tool: mock, inputs: {name: "{{params.name}}", ref: "{{params.ref}}", event: "{{pipeline.inputs.event}}"}}]}`;

interface Accepted {
  readonly run_id: string;
}

describe('POST /pipelines/{id}/webhook (D71)', () => {
  const controlled = new ControlledTool('wait');
  const clock = new ManualClock();
  let folder: TemporaryFolder;
  let server: TestServer;
  before(async () => {
    folder = new TemporaryFolder();
    const write = (file: string, text: string): string => folder.write(`pipelines/${file}`, text);
    write('push.yaml', pipeline('push', 'webhook: {secret: HOOK}'));
    write(
      'mapped.yaml',
      pipeline('mapped', 'webhook: {secret: HOOK, params: {ref: /head/ref~1x}, inputs: {event: ""}}'),
    );
    const many = Array.from({ length: 200 }, (_, index) => `k${index}: ""`).join(', ');
    write(
      'many.yaml',
      `pipeline: {id: many, goal: g, webhook: {secret: HOOK, inputs: {${many}}}, tasks: [{id: a, tool: mock}]}`,
    );
    write('short.yaml', pipeline('short', 'webhook: {secret: SHORT}'));
    write('lost.yaml', pipeline('lost', 'webhook: {secret: LOST}'));
    write('closed.yaml', pipeline('closed', 'description: none'));
    write('tenants/acme/push.yaml', pipeline('push', 'webhook: {secret: HOOK}'));
    write(
      'slow.yaml',
      'pipeline: {id: slow, goal: g, webhook: {secret: HOOK}, tasks: [{id: a, tool: wait}]}',
    );
    server = await startTestServer({
      env: {
        SERVICE_PIPELINES: folder.at('pipelines'),
        SERVICE_BODY_LIMIT: String(8 * 2 ** 20),
        SERVICE_MAX_RUNNING: '2',
        SERVICE_MAX_QUEUED: '3',
        SERVICE_TENANT_SHARE: '0',
      },
      keys: [],
      tools: [controlled.tool],
      secrets,
      clock,
    });
    await server.restored;
  });
  after(async () => {
    for (const call of controlled.calls) call.resolve('done');
    await server.close(0);
    folder.remove();
  });

  const post = <T = Accepted>(
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<TestResponse<T>> => server.request<T>('POST', `/pipelines/${path}`, body, headers);
  const sign = (text: string, secret = SECRET): string =>
    `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
  const resultOf = async (runId: string): Promise<{ name: string; ref: string; event: unknown }> => {
    const { result } = await server.registry.settled(runId);
    const outputs = result?.outputs as { a: { inputs: { name: string; ref: string; event: unknown } } };
    return outputs.a.inputs;
  };

  it('refuses a body whose mapped values are too long together, however often they are the same', async () => {
    const token = { 'x-webhook-token': SECRET };
    const refused = await post<ErrorBody>('many/webhook', { text: 'x'.repeat(6000) }, token);
    expect(refused.status).to.equal(413);
    expect(refused.body.detail).to.include({ code: 'body_too_large' });
    expect((await post('many/webhook', { text: 'x'.repeat(100) }, token)).status).to.equal(202);
  });

  it('starts a run for whoever sends the secret, and needs no key', async () => {
    const byHeader = await post('push/webhook', { name: 'Ada', other: 1 }, { 'x-webhook-token': SECRET });
    expect([byHeader.status, byHeader.headers.get('location')]).to.deep.equal([
      202,
      `/pipelines/runs/${byHeader.body.run_id}`,
    ]);
    expect(await resultOf(byHeader.body.run_id)).to.include({ name: 'Ada', ref: 'none' });
    const byQuery = await post(`push/webhook?token=${SECRET}`);
    expect(await resultOf(byQuery.body.run_id)).to.include({ name: 'nobody' });
  });

  it('accepts a body that is signed as GitHub does, whatever its bytes are', async () => {
    const text = '{"name" :  "Zoë ☂"}';
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': sign(text) };
    const { status, body } = await post('push/webhook', text, headers);
    expect(status).to.equal(202);
    expect(await resultOf(body.run_id)).to.include({ name: 'Zoë ☂' });
    const capitals = { ...headers, 'x-hub-signature-256': sign(text).toUpperCase().replace('SHA', 'sha') };
    expect((await post('push/webhook', text, capitals)).status).to.equal(202);
  });

  it('takes params and inputs from where the definition says', async () => {
    const event = { head: { 'ref/x': 'main' }, name: 'not this' };
    const { body } = await post('mapped/webhook', event, { 'x-webhook-token': SECRET });
    expect(await resultOf(body.run_id)).to.deep.equal({ name: 'nobody', ref: 'main', event });
  });

  it('starts the pipeline of the tenant in the query, with the secret of that tenant', async () => {
    const { body } = await post(
      'push/webhook?tenant_id=acme',
      {},
      { 'x-webhook-token': 'another-secret-of-acme' },
    );
    expect(server.registry.queries.tenantId(body.run_id)).to.equal('acme');
    expect((await post('push/webhook?tenant_id=acme', {}, { 'x-webhook-token': SECRET })).status).to.equal(
      404,
    );
  });

  it('starts a delivery that is repeated once (D36)', async () => {
    for (const header of ['idempotency-key', 'x-github-delivery']) {
      const headers = { 'x-webhook-token': SECRET, [header]: `of ${header}` };
      const first = await post('push/webhook', { name: 'x' }, headers);
      const second = await post('push/webhook', { name: 'x' }, headers);
      expect(second.body.run_id).to.equal(first.body.run_id);
      expect(second.headers.get('idempotent-replayed')).to.equal('true');
    }
  });

  it('answers everything that it does not accept alike, and starts nothing', async () => {
    const text = '{"name":"x"}';
    const json = { 'content-type': 'application/json' };
    const forged: [path: string, body: string | undefined, headers: Record<string, string>][] = [
      ['push/webhook', undefined, {}],
      ['push/webhook', undefined, { 'x-webhook-token': '' }],
      ['push/webhook', undefined, { 'x-webhook-token': 'wrong' }],
      ['push/webhook', undefined, { 'x-webhook-token': `${SECRET}x` }],
      ['push/webhook?token=wrong', undefined, {}],
      ['push/webhook?token=wrong', text, { ...json, 'x-hub-signature-256': sign(text) }],
      ['push/webhook', text, { ...json, 'x-hub-signature-256': sign('{"name":"y"}') }],
      ['push/webhook', text, { ...json, 'x-hub-signature-256': sign(text, '') }],
      ['push/webhook', text, { ...json, 'x-hub-signature-256': 'sha256=zz' }],
      ['push/webhook', text, { ...json, 'x-hub-signature-256': sign(text).slice(7) }],
      ['short/webhook', undefined, { 'x-webhook-token': SHORT }],
      ['lost/webhook', undefined, { 'x-webhook-token': SECRET }],
      ['lost/webhook', text, { ...json, 'x-hub-signature-256': sign(text, '') }],
      ['closed/webhook', undefined, { 'x-webhook-token': SECRET }],
      ['none/webhook', undefined, { 'x-webhook-token': SECRET }],
      ['none/webhook', text, { ...json, 'x-hub-signature-256': sign(text, '') }],
    ];
    const before = server.registry.list({ limit: 500 }).runs.length;
    for (const [path, body, headers] of forged) {
      const response = await post<ErrorBody>(path, body, headers);
      const id = path.split('/')[0];
      expect([path, headers, response.status, response.body]).to.deep.equal([
        path,
        headers,
        404,
        { detail: { code: 'pipeline_not_found', message: `there is no pipeline or plan "${id}"` } },
      ]);
    }
    expect(server.registry.list({ limit: 500 }).runs).to.have.length(before);
  });

  it('never writes the secret into the log', () => {
    expect(JSON.stringify(server.log)).to.not.include(SECRET);
    expect(server.log.some(({ facts }) => facts['path'] === '/pipelines/push/webhook')).to.equal(true);
  });

  it('refuses a body that is no object, from whoever knows the secret', async () => {
    for (const body of ['[1]', '"x"', 'no json']) {
      const headers = { 'content-type': 'application/json', 'x-webhook-token': SECRET };
      const response = await post<ErrorBody>('push/webhook', body, headers);
      expect([body, response.body.detail.code]).to.deep.equal([body, 'invalid_request']);
    }
  });

  it('computes no more signatures for an address whose wrong ones have cost much, but accepts the secret', async () => {
    const text = '{}';
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': sign('other') };
    const large = 'x'.repeat(8 * 2 ** 20);
    let refused: TestResponse<ErrorBody> | undefined;
    for (let times = 0; times < 40 && refused?.status !== 429; times++) {
      refused = await post<ErrorBody>('push/webhook', large, headers);
    }
    expect(refused?.body.detail.code).to.equal('too_many_failures');
    expect(refused?.headers.get('retry-after')).to.equal('60');
    const signed = { ...headers, 'x-hub-signature-256': sign(text) };
    expect((await post('push/webhook', text, signed)).status).to.equal(429);
    expect((await post('push/webhook', {}, { 'x-webhook-token': SECRET })).status).to.equal(202);
    clock.advance(60_000);
    expect((await post('push/webhook', text, signed)).status).to.equal(202);
  });

  it('is bounded by the queue of the server (D25)', async () => {
    const storm = await Promise.all(
      Array.from({ length: 50 }, () => post<ErrorBody>('slow/webhook', {}, { 'x-webhook-token': SECRET })),
    );
    const accepted = storm.filter(({ status }) => status === 202);
    const refused = storm.filter(({ status }) => status === 503);
    expect([accepted.length, refused.length]).to.deep.equal([5, 45]);
    for (const { headers, body } of refused) {
      expect([headers.get('retry-after'), body.detail.code]).to.deep.equal(['1', 'queue_full']);
    }
  });
});

describe('The webhook of a pipeline in the list (D71)', () => {
  it('says where it is, and whether the server has its secret', async () => {
    const folder = new TemporaryFolder();
    folder.write('pipelines/a.yaml', pipeline('a', 'webhook: {secret: HOOK}'));
    folder.write('pipelines/b.yaml', pipeline('b', 'webhook: {secret: SHORT}'));
    folder.write('pipelines/tenants/acme/c.yaml', pipeline('c', 'webhook: {secret: HOOK}'));
    const server = await startTestServer({ env: { SERVICE_PIPELINES: folder.at('pipelines') }, secrets });
    const { body } = await server.request<{ pipelines: NamedPipeline[] }>('GET', '/pipelines');
    expect(body.pipelines.map(({ webhook }) => webhook)).to.deep.equal([
      { path: '/pipelines/c/webhook?tenant_id=acme', ready: true },
      { path: '/pipelines/a/webhook', ready: true },
      { path: '/pipelines/b/webhook', ready: false },
    ]);
    await server.close(0);
    folder.remove();
  });
});
