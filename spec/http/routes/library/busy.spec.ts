import { expect } from 'chai';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { AcceptedRun } from '../../../../lib/runs/record.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const SECRET = 'a-secret-of-24-letters-';
const TOKEN = { 'x-webhook-token': SECRET };
const FIELDS = 'max_running: 1, on_busy: skip, concurrency_key: "{{params.customer}}"';
const TASKS = 'tasks: [{id: a, tool: sleep, inputs: {seconds: 3600}}]';

describe('Runs beyond max_running, over HTTP (D81)', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  let atWork: string;

  before(async () => {
    folder = new TemporaryFolder();
    folder.write(
      'pipelines/sync.yaml',
      `pipeline: {id: sync, goal: g, webhook: {secret: HOOK}, params: {customer: {}}, ${FIELDS}, ${TASKS}}`,
    );
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines') },
      secrets: { find: () => SECRET },
    });
    await server.restored;
    atWork = (await start('acme')).body.run_id;
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  const start = (customer: string, headers: Record<string, string> = {}) =>
    server.request<AcceptedRun>('POST', '/pipelines/sync/run_async', { params: { customer } }, headers);

  it('are refused with 409, "busy" and the id of the run at work; another value of the key has room', async () => {
    for (const path of ['/pipelines/sync/run_async', '/pipelines/sync/run']) {
      const body = { params: { customer: 'acme' } };
      const refused = await server.request<ErrorBody>('POST', path, body);
      expect(refused.status).to.equal(409);
      expect(refused.body.detail).to.include({ code: 'busy', run_id: atWork });
    }
    expect((await start('other')).status).to.equal(202);
  });

  it('use up no idempotency key', async () => {
    const headers = { 'idempotency-key': 'once' };
    expect((await start('acme', headers)).status).to.equal(409);
    const { body } = await start('third', headers);
    expect(body.run_id).to.be.a('string');
  });

  it('are not held back when the definition is sent', async () => {
    const pipeline = {
      id: 'sync',
      goal: 'g',
      max_running: 1,
      on_busy: 'skip',
      tasks: [{ id: 'a', tool: 'mock' }],
    };
    expect((await server.request('POST', '/pipelines/run', { pipeline })).status).to.equal(200);
  });

  it('are answered with the run at work when a webhook asks for them, and counted', async () => {
    const answer = await server.request<AcceptedRun>(
      'POST',
      '/pipelines/sync/webhook',
      { customer: 'acme' },
      TOKEN,
    );
    expect(answer.status).to.equal(202);
    expect(answer.body).to.deep.equal({ run_id: atWork, status: 'running' });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).to.contain('wavetrain_runs_skipped_total{by="webhook"} 1');
  });
});
