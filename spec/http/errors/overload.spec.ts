import { request } from 'node:http';
import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { settle } from '../../support/deferred.js';
import { ControlledServer } from '../support/controlled-server.js';

const ONE_TASK = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] };

/** Submits a synchronous run; `leave` disconnects the client. */
function leavingClient(url: string, body: object): { leave(): Promise<void> } {
  const headers = { 'content-type': 'application/json' };
  const sent = request(`${url}/pipelines/run`, { method: 'POST', headers });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify(body));
  return {
    leave: () =>
      new Promise((resolve) => {
        sent.on('close', () => resolve());
        sent.destroy();
      }),
  };
}

describe('A synchronous run whose client disconnects', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  /** Returns the only run once its tool was called. */
  async function runAtWork(): Promise<string> {
    while (fixture.controlled.calls.length === 0) await settle();
    return fixture.controlled.last.context.run_id;
  }

  /** Disconnects the client and waits until the server has noticed. */
  async function left(client: ReturnType<typeof leavingClient>): Promise<void> {
    const count = (): number => fixture.server.log.filter(({ facts }) => facts['left'] === true).length;
    const before = count();
    await client.leave();
    while (count() === before) await settle();
  }

  it('finishes, and stays in the list with its result', async () => {
    const client = leavingClient(fixture.server.url, { pipeline: ONE_TASK });
    const runId = await runAtWork();
    await left(client);
    expect(await fixture.poll(runId)).to.include({ status: 'running' });
    await fixture.complete(runId);
    expect(await fixture.poll(runId)).to.deep.include({
      status: 'succeeded',
      tenant_id: 'default',
      result: { outputs: { a: 'done' }, waves_executed: 1, tasks_executed: 1 },
    });
    const { body } = await fixture.request<{ runs: { run_id: string }[] }>('GET', '/pipelines/runs');
    expect(body.runs.map(({ run_id }) => run_id)).to.deep.equal([runId]);
    expect(fixture.server.log.filter(({ level }) => level !== 'info')).to.deep.equal([]);
  });

  it('responds with 409 when another client cancels it', async () => {
    const responsePromise = fixture.request<ErrorBody>('POST', '/pipelines/run', { pipeline: ONE_TASK });
    const runId = await runAtWork();
    await fixture.request('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
    const { status, body } = await responsePromise;
    expect(status).to.equal(409);
    expect(body.detail).to.deep.equal({ code: 'run_cancelled', message: `run ${runId} was cancelled` });
  });
});

describe('A full queue (D25)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open({ env: { SERVICE_MAX_RUNNING: '1', SERVICE_MAX_QUEUED: '1' } }));
  after(() => fixture.close());

  it('rejects synchronous and asynchronous runs with 503 and Retry-After until there is space', async () => {
    const first = await fixture.submit();
    const second = await fixture.submit();
    for (const path of ['/pipelines/run', '/pipelines/run_async']) {
      const { status, body, headers } = await fixture.request<ErrorBody>('POST', path, {
        pipeline: ONE_TASK,
      });
      expect(`${status} ${body.detail.code}`).to.equal('503 queue_full');
      expect(headers.get('retry-after')).to.equal('1');
    }
    await fixture.request('POST', `/pipelines/runs/${second}/cancel`);
    await fixture.submit();
    expect(await fixture.poll(first)).to.include({ status: 'running' });
  });
});

describe('A server that keeps no settled runs (D26)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open({ env: { SERVICE_RUN_KEEP: '0' } }));
  after(() => fixture.close());

  it('still responds to synchronous runs and to cancels with the result', async () => {
    const responsePromise = fixture.request('POST', '/pipelines/run', { pipeline: ONE_TASK });
    while (fixture.controlled.calls.length === 0) await settle();
    await fixture.complete(fixture.controlled.last.context.run_id);
    expect((await responsePromise).body).to.deep.include({ outputs: { a: 'done' } });
    const runId = await fixture.submit(ONE_TASK);
    const { status, body } = await fixture.request('POST', `/pipelines/runs/${runId}/cancel`, {
      force: true,
    });
    expect(status).to.equal(200);
    expect(body['status']).to.equal('cancelled');
    expect((await fixture.request('GET', `/pipelines/runs/${runId}`)).status).to.equal(404);
  });

  it('responds with 404 to a long poll for a run that is deleted as it settles', async () => {
    const runId = await fixture.submit(ONE_TASK);
    const waiting = fixture.request('GET', `/pipelines/runs/${runId}?wait=60`);
    while (fixture.clock.pending === 0) await settle();
    await fixture.complete(runId);
    expect((await waiting).status).to.equal(404);
  });
});
