import { expect } from 'chai';
import { WavetrainError } from '../../lib/common/errors.js';
import type { RunResult } from '../../lib/execution/results.js';
import type { AcceptedRun } from '../../lib/runs/record.js';
import type { ErrorBody } from '../../lib/http/schemas/error.js';
import type { OpenApiDocument } from '../support/http/open-api-document.js';
import { createRouteTable } from '../support/http/route-table.js';
import { startTestServer, type TestResponse } from '../support/http/test-server.js';
import { settle } from '../support/deferred.js';
import { ControlledServer } from './support/controlled-server.js';

const ONE_TASK = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] };

describe('RunningServer.close (shutdown)', () => {
  let fixture: ControlledServer;
  beforeEach(async () => {
    fixture = new ControlledServer();
    await fixture.open();
  });

  const run = <T>(): Promise<TestResponse<T>> =>
    fixture.request<T>('POST', '/pipelines/run', { pipeline: ONE_TASK });

  /** Starts one run and queues another, both with synchronous requests. */
  async function bothAsked() {
    const running = run<RunResult & ErrorBody>();
    while (fixture.controlled.calls.length === 0) await settle();
    const waiting = run<ErrorBody>();
    while (fixture.server.registry.queries.load.queued === 0) await settle();
    return { running, waiting };
  }

  function expectShuttingDown({ status, body, headers }: TestResponse<ErrorBody>): void {
    expect(`${status} ${body.detail.code}`).to.equal('503 shutting_down');
    expect(headers.get('retry-after')).to.equal('5');
  }

  it('refuses new runs and reports not ready, but serves every other request', async () => {
    const { running, waiting } = await bothAsked();
    const closed = fixture.server.close(1000);
    expectShuttingDown(await run<ErrorBody>());
    expectShuttingDown(
      await fixture.request<ErrorBody>('POST', '/pipelines/run_async', { pipeline: ONE_TASK }),
    );
    const ready = await fixture.request('GET', '/ready');
    expect(ready.status).to.equal(503);
    expect(ready.body).to.deep.equal({
      ready: false,
      reason: 'shutting_down',
      queued: 0,
      running: 1,
      version: '0.0.0-spec',
    });
    expect((await fixture.request('GET', '/health')).status).to.equal(200);
    expect((await fixture.request('GET', '/pipelines/runs?status=running')).status).to.equal(200);
    fixture.controlled.last.resolve('done');
    await Promise.all([running, waiting, closed]);
  });

  it('refuses queued runs at once and lets running ones finish within the grace period', async () => {
    const { running, waiting } = await bothAsked();
    const closed = fixture.server.close(1000);
    expectShuttingDown(await waiting);
    fixture.controlled.last.resolve('done');
    const { status, body } = await running;
    expect(status).to.equal(200);
    expect(body.outputs).to.deep.equal({ a: 'done' });
    await closed;
    expect(fixture.clock.pending).to.equal(0);
  });

  it('sends a large result completely before it closes the connection', async () => {
    const running = run<RunResult>();
    while (fixture.controlled.calls.length === 0) await settle();
    const closed = fixture.server.close(1000);
    const large = 'x'.repeat(8 * 2 ** 20);
    fixture.controlled.last.resolve(large);
    expect((await running).body.outputs['a'] === large).to.equal(true);
    await closed;
  });

  it('aborts the tools of runs that exceed the grace period and responds 503 (D21)', async () => {
    const { running, waiting } = await bothAsked();
    const closed = fixture.server.close(1000);
    await waiting;
    fixture.clock.advance(1000);
    expect(fixture.controlled.last.context.signal.aborted).to.equal(true);
    expectShuttingDown(await running);
    await closed;
  });

  it('documents the refusal of every request whose definition can no longer be parsed', async () => {
    const closing = await startTestServer({
      parseText: () => Promise.reject(new WavetrainError('shutting_down', 'closed')),
    });
    try {
      const { paths } = (await closing.request<OpenApiDocument>('GET', '/openapi.json')).body;
      const routes = createRouteTable().filter(({ body }) => body?.yaml !== undefined);
      expect(routes).to.have.length(9);
      const task = { id: 'a', tool: 'mock' };
      const run = { pipeline: { id: 'p', goal: 'g', tasks: [task] } };
      const { run_id: runId } = (await closing.request<AcceptedRun>('POST', '/pipelines/run_async', run))
        .body;
      await closing.registry.settled(runId);
      for (const { method, path } of routes) {
        const yaml = { 'content-type': 'application/yaml' };
        const address = path.replace('{run_id}', runId);
        expectShuttingDown(await closing.request<ErrorBody>(method, address, 'id: p', yaml));
        const { description = '' } = paths[path]?.[method.toLowerCase()]?.responses[503] ?? {};
        expect(description, path).to.include('`shutting_down`');
      }
    } finally {
      await Promise.all([closing.close(0), fixture.server.close(0)]);
    }
  });

  it('refuses connections after it has closed', async () => {
    const { url } = fixture.server;
    await fixture.server.close(0);
    const refused = await fetch(`${url}/health`).then(
      () => false,
      () => true,
    );
    expect(refused).to.equal(true);
  });
});
