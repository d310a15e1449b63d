import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { StoredRunHead } from '../../../lib/runs/store/run-archive.js';
import { createDisk, type Disk, MemoryStore } from '../../runs/store/memory/memory-store.js';
import { catchRejection } from '../../support/rejection.js';
import { deferred, settle } from '../../support/deferred.js';
import { createRouteTable } from '../../support/http/route-table.js';
import { startTestServer, type TestResponse } from '../../support/http/test-server.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { takeWarnings } from '../../support/warnings.js';
import { ControlledServer, TWO_WAVES } from '../support/controlled-server.js';

/** A store whose runs are read when the spec lets them. */
class HeldStore extends MemoryStore {
  readonly reading = deferred<void>();

  override async *heads(): AsyncIterable<StoredRunHead> {
    await this.reading.promise;
    yield* super.heads();
  }
}

const RUN = { pipeline: TWO_WAVES };

function expectNotReady({ status, body, headers }: TestResponse<ErrorBody>): void {
  expect(`${status} ${body.detail?.code}`).to.equal('503 not_ready');
  expect(headers.get('retry-after')).to.equal('1');
}

describe('A server with a store (D68)', () => {
  let disk: Disk;
  let opened: ControlledServer[];

  beforeEach(() => {
    disk = createDisk();
    opened = [];
  });

  afterEach(async () => {
    for (const { server, clock } of opened) {
      const closed = server.close(0);
      await settle();
      clock.advance(0);
      await closed;
    }
  });

  async function open(store: MemoryStore): Promise<ControlledServer> {
    const fixture = new ControlledServer();
    await fixture.open({ store });
    opened.push(fixture);
    return fixture;
  }

  describe('while it restores its runs', () => {
    it('is alive and not ready, and says why', async () => {
      const store = new HeldStore(disk);
      const { server } = await open(store);
      expect((await server.request('GET', '/health')).status).to.equal(200);
      const ready = await server.request('GET', '/ready');
      expect(ready.status).to.equal(503);
      expect(ready.body).to.deep.include({ ready: false, reason: 'restoring' });
      store.reading.resolve();
      await server.restored;
      expect((await server.request('GET', '/ready')).body).to.deep.equal({
        ready: true,
        queued: 0,
        running: 0,
        version: '0.0.0-spec',
      });
    });

    it('refuses every other request with 503 and Retry-After, before it looks at its key or its body', async () => {
      const store = new HeldStore(disk);
      const { server } = await open(store);
      const routes = createRouteTable().filter(({ isProbe }) => isProbe !== true);
      expect(routes.length).to.be.above(20);
      for (const { method, path } of routes) {
        const body = method === 'POST' ? '{broken' : undefined;
        const refused = await server.request<ErrorBody>(method, path.replaceAll(/\{\w+\}/g, 'x'), body);
        expectNotReady(refused);
      }
      store.reading.resolve();
    });

    it('says what to do when the store cannot be read, and stays unready', async () => {
      const store = new HeldStore(disk);
      const { server } = await open(store);
      store.reading.reject(new Error('the disk image is malformed'));
      expect(await catchRejection(server.restored)).to.include({
        code: 'bad_usage',
        message:
          'the runs in memory cannot be read: the disk image is malformed: put a copy of the file in its place, or name another file',
      });
      expect((await server.request('GET', '/ready')).status).to.equal(503);
    });
  });

  it('answers with a record when the disk has what it says, and shows no end before that', async () => {
    const store = new MemoryStore(disk);
    const fixture = await open(store);
    await fixture.server.restored;
    const runId = await fixture.submit();
    const written = deferred<void>();
    store.hold = written.promise;
    fixture.findCall(runId).resolve('done');
    await settle();
    const polled = fixture.poll(runId);
    let isAnswered = false;
    void polled.then(() => {
      isAnswered = true;
    });
    for (let time = 0; time < 3; time++) await fixture.request('GET', '/health');
    expect(isAnswered).to.equal(false);
    written.resolve();
    expect(await polled).to.include({ run_id: runId });
  });

  describe('whose store has failed', () => {
    async function failed(): Promise<{ readonly fixture: ControlledServer; readonly runId: string }> {
      const store = new MemoryStore(disk);
      const fixture = await open(store);
      await fixture.server.restored;
      const runId = await fixture.submit();
      store.fault = new Error('the disk is full');
      fixture.findCall(runId).resolve('done');
      await fixture.waitUntilIdle();
      return { fixture, runId };
    }

    it('is not ready, and logs the reason', async () => {
      const { fixture } = await failed();
      const ready = await fixture.request('GET', '/ready');
      expect(`${ready.status} ${String(ready.body['reason'])}`).to.equal('503 store_failed');
      expect(fixture.server.log.filter(({ level }) => level === 'error')).to.deep.equal([
        {
          level: 'error',
          facts: { error: 'the disk is full' },
          message: 'runs cannot be kept in memory: none goes on until the server is started again',
        },
      ]);
    });

    it('accepts no run, rerun or cancellation, since none could be kept, and shows the runs that it has', async () => {
      const { fixture, runId } = await failed();
      const refused = await fixture.request<ErrorBody>('POST', '/pipelines/run_async', RUN);
      expectNotReady(refused);
      expect(refused.body.detail.message).to.equal(
        'nothing can be kept in memory any more: the log of the server says why; start it again',
      );
      expectNotReady(await fixture.request('POST', '/pipelines/run', RUN));
      expectNotReady(await fixture.request('POST', `/pipelines/runs/${runId}/cancel`));
      expect(await fixture.poll(runId)).to.include({ status: 'running' });
    });

    it('answers requests at work with 503, which wait for the end of a run or for its acceptance', async () => {
      const store = new MemoryStore(disk);
      const fixture = await open(store);
      await fixture.server.restored;
      const asked = fixture.request<ErrorBody>('POST', '/pipelines/run', RUN);
      while (fixture.controlled.calls.length === 0) await settle();
      store.fault = new Error('the disk is full');
      const late = fixture.request<ErrorBody>('POST', '/pipelines/run', RUN);
      expectNotReady(await late);
      expectNotReady(await asked);
    });

    it('calls no further tool, and the next server goes on from what was kept', async () => {
      const { fixture, runId } = await failed();
      expect(fixture.controlled.calls).to.have.length(1);
      const next = await open(new MemoryStore(disk));
      await next.server.restored;
      await next.waitUntilIdle();
      await next.complete(runId);
      await next.complete(runId);
      expect(await next.poll(runId)).to.include({ status: 'succeeded' });
    });

    it('can be closed, also while the end of a run waits to be kept', async () => {
      const store = new MemoryStore(disk);
      const fixture = await open(store);
      await fixture.server.restored;
      const runId = await fixture.submit();
      await fixture.complete(runId);
      fixture.findCall(runId).resolve('done');
      store.fault = new Error('the disk is full');
      await fixture.waitUntilIdle();
      opened.pop();
      const closed = fixture.server.close(1000);
      fixture.clock.advance(1000);
      await closed;
    });
  });

  it('answers a synchronous run at its shutdown with 503: the run goes on with the next server', async () => {
    const fixture = await open(new MemoryStore(disk));
    await fixture.server.restored;
    const asked = fixture.request<ErrorBody>('POST', '/pipelines/run', RUN);
    while (fixture.controlled.calls.length === 0) await settle();
    opened.pop();
    const closed = fixture.server.close(1000);
    await settle();
    fixture.clock.advance(1000);
    const { status, body } = await asked;
    expect(`${status} ${body.detail.code}`).to.equal('503 shutting_down');
    expect(body.detail.message).to.match(/^the server is shutting down: run \S+ can be found again when/);
    await closed;
    const next = await open(new MemoryStore(disk));
    expect(await next.server.restored).to.deep.equal({ kept: 1, goingOn: 1, waiting: 0 });
  });

  it('shows settled runs whose tools, secrets and models are not there any more, and keeps the others in the store', async () => {
    const first = await open(new MemoryStore(disk));
    await first.server.restored;
    const settled = await first.submit({ ...TWO_WAVES, tasks: TWO_WAVES.tasks.slice(0, 1) });
    while (first.controlled.calls.length === 0) await settle();
    await first.complete(settled);
    const path = `/pipelines/runs/${settled}`;
    let record = await first.request<RunRecord>('GET', path);
    while (!record.body.settled) record = await first.request('GET', path);
    const waiting = await first.submit();
    await settle();
    const years = String(10 * 365 * 86_400);
    const next = await startTestServer({ store: new MemoryStore(disk), env: { SERVICE_RUN_TTL: years } });
    try {
      expect(await next.restored).to.deep.equal({ kept: 1, goingOn: 0, waiting: 0 });
      expect((await next.request('GET', path)).body).to.deep.equal(record.body);
      expect((await takeWarnings()).join()).to.match(
        new RegExp(`run ${waiting} cannot be rebuilt: .*tool "controlled"`),
      );
      expect(disk.runs.has(waiting)).to.equal(true);
    } finally {
      await next.close(0);
    }
  });

  it('closes the store when all requests at work have got their answers', async () => {
    const order: string[] = [];
    class ObservedStore extends MemoryStore {
      override async close(): Promise<void> {
        order.push('store closed');
        await super.close();
      }
    }
    const fixture = await open(new ObservedStore(disk));
    await fixture.server.restored;
    const asked = fixture.request<ErrorBody>('POST', '/pipelines/run', RUN);
    void asked.then(({ status }) => order.push(`answered with ${status}`));
    while (fixture.controlled.calls.length === 0) await settle();
    opened.pop();
    const closed = fixture.server.close(1000);
    await settle();
    fixture.clock.advance(1000);
    await closed;
    await asked;
    expect(order).to.deep.equal(['answered with 503', 'store closed']);
  });

  it('refuses at its shutdown to cancel a run that is left to the next server: it would not be kept', async () => {
    const store = new MemoryStore(disk);
    const fixture = await open(store);
    await fixture.server.restored;
    const runId = await fixture.submit();
    const written = deferred<void>();
    store.hold = written.promise;
    fixture.findCall(runId).resolve('done');
    await settle();
    // The cancel waits until the task is published.
    const cancelled = fixture.request<ErrorBody>('POST', `/pipelines/runs/${runId}/cancel`);
    for (let time = 0; time < 3; time++) await fixture.request('GET', '/health');
    opened.pop();
    const closed = fixture.server.close(1000);
    await settle();
    fixture.clock.advance(1000);
    await settle();
    written.resolve();
    const { status, body } = await cancelled;
    expect(`${status} ${body.detail.code}`).to.equal('503 shutting_down');
    await closed;
    const next = await open(new MemoryStore(disk));
    await next.server.restored;
    await next.waitUntilIdle();
    expect(await next.poll(runId)).to.include({ status: 'running' });
  });
});
