import { expect } from 'chai';
import type { RunRecord } from '../../../lib/runs/record.js';
import type { RunPage } from '../../../lib/runs/views/run-listing.js';
import { WavetrainClient } from '../../../lib/client/client.js';
import { settle } from '../../support/deferred.js';
import type { TestResponse } from '../../support/http/test-server.js';
import { catchRejection } from '../../support/rejection.js';
import { ControlledServer, TWO_WAVES } from '../support/controlled-server.js';
import { createApiKey } from '../../support/http/api-key.js';

interface Refused {
  readonly detail: { readonly code: string; readonly message: string };
}

const BEFORE_B = { breakpoints: { before: ['b'] } };

describe('A run with breakpoints over HTTP (D42)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open({ env: { SERVICE_MAX_RUNNING: '1', SERVICE_PAUSE_SECONDS: '60' } }));
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  const act = async <T = RunRecord>(runId: string, action: string): Promise<TestResponse<T>> => {
    const response = await fixture.request<T>('POST', `/pipelines/runs/${runId}/${action}`);
    await fixture.waitUntilIdle();
    return response;
  };

  /** Submits a run of two waves and completes the first. */
  const pauseBeforeB = async (): Promise<string> => {
    const runId = await fixture.submit(TWO_WAVES, BEFORE_B);
    await fixture.complete(runId);
    return runId;
  };

  it('pauses, as its record, its list entry and its events say, and goes on when it is continued', async () => {
    const runId = await pauseBeforeB();
    expect(await fixture.poll(runId)).to.include({ status: 'running', paused: true, settled: false });
    const listed = () => fixture.request<RunPage>('GET', '/pipelines/runs?status=paused&counts=true');
    const { runs, counts } = (await listed()).body;
    expect(runs.map(({ run_id }) => run_id)).to.deep.equal([runId]);
    expect(counts).to.include({ running: 1, paused: 1 });
    const { body: task } = await fixture.request('GET', `/pipelines/runs/${runId}/tasks/b`);
    expect(task)
      .to.include({ status: 'pending' })
      .and.deep.include({ inputs: { given: 'done' } });
    const continued = await act(runId, 'continue');
    expect(continued.status).to.equal(200);
    expect(continued.body).to.include({ run_id: runId, status: 'running', paused: false });
    expect((await listed()).body).to.deep.include({ runs: [] });
    await fixture.complete(runId);
    expect(await fixture.poll(runId)).to.include({ status: 'succeeded', paused: false });
    const { body } = await fixture.server.request<{ events: { kind: string; paused?: boolean }[] }>(
      'GET',
      `/pipelines/runs/${runId}/events`,
      undefined,
      { accept: 'application/json' },
    );
    const paused = body.events.filter((event) => 'paused' in event);
    expect(paused).to.have.length(1);
    expect(paused[0]).to.include({ kind: 'run', status: 'running', paused: true });
  });

  it('answers 409 run_not_paused to those who continue a run that is at work, or has settled', async () => {
    const runId = await fixture.submit(TWO_WAVES, BEFORE_B);
    for (const action of ['continue', 'step']) {
      const { status, body } = await act<Refused>(runId, action);
      expect(status).to.equal(409);
      expect(body.detail).to.include({ code: 'run_not_paused' });
    }
    await fixture.complete(runId);
    await act(runId, 'cancel');
    expect((await act(runId, 'continue')).status).to.equal(409);
    expect((await act('none', 'step')).status).to.equal(404);
  });

  it('is cancelled when it has paused for SERVICE_PAUSE_SECONDS', async () => {
    const runId = await pauseBeforeB();
    fixture.clock.advance(59_999);
    expect(await fixture.poll(runId)).to.include({ paused: true });
    fixture.clock.advance(1);
    await settle();
    expect(await fixture.poll(runId)).to.include({ status: 'cancelled', settled: true });
  });

  it('is refused with a task that there is not, in whatever words', async () => {
    for (const [breakpoints, code] of [
      [{ before: ['bb'] }, 'invalid_options'],
      [{ before: 'b' }, 'invalid_request'],
      [{ after: ['b'] }, 'invalid_request'],
      [{ before: Array.from({ length: 101 }, () => 'b') }, 'invalid_request'],
    ] as const) {
      const request = { pipeline: TWO_WAVES, breakpoints };
      const { status, body } = await fixture.request<Refused>('POST', '/pipelines/run_async', request);
      expect([status, body.detail.code]).to.deep.equal([400, code]);
    }
  });

  it('is stepped by one wave, and continued, by the client', async () => {
    const client = new WavetrainClient({ url: fixture.server.url });
    const runId = await fixture.submit(TWO_WAVES, { breakpoints: { before: ['a'] } });
    for (const goOn of ['step', 'continue'] as const) {
      expect(await client[goOn](runId)).to.include({ paused: false });
      await fixture.waitUntilIdle();
      await fixture.complete(runId);
    }
    expect(await fixture.poll(runId)).to.include({ status: 'succeeded' });
    expect(await catchRejection(client.continue(runId))).to.include({ code: 'run_not_paused' });
  });
});

describe('A paused run on a server with keys (D37)', () => {
  const fixture = new ControlledServer();
  before(() =>
    fixture.open({
      keys: [
        createApiKey('owner', ['acme'], ['read', 'run']),
        createApiKey('reader', ['acme'], ['read']),
        createApiKey('stranger', ['others'], ['read', 'run']),
      ],
    }),
  );
  after(() => fixture.close());

  it('goes on for a key of its tenant that may run, and for no other', async () => {
    const send = <T>(key: string, path: string, body?: object): Promise<TestResponse<T>> =>
      fixture.server.request<T>('POST', path, body, { 'x-api-key': key });
    const submitted = await send<{ run_id: string }>('owner', '/pipelines/run_async', {
      pipeline: TWO_WAVES,
      breakpoints: { before: ['a'] },
    });
    await fixture.waitUntilIdle();
    const path = `/pipelines/runs/${submitted.body.run_id}/continue`;
    const refused = async (key: string): Promise<[number, string]> => {
      const { status, body } = await send<Refused>(key, path);
      return [status, body.detail.code];
    };
    expect(await refused('stranger')).to.deep.equal([404, 'run_not_found']);
    expect(await refused('reader')).to.deep.equal([403, 'forbidden']);
    expect(await refused('nobody')).to.deep.equal([401, 'unauthorized']);
    expect((await send('owner', path)).status).to.equal(200);
  });
});
