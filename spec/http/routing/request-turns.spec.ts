import { expect } from 'chai';
import { eventLoopScheduler } from '../../../lib/common/scheduling/event-loop-scheduler.js';
import { deferred, settle } from '../../support/deferred.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';

/** Replaces the turns of requests, until the spec has ended. */
function replaceTurns(wait: () => Promise<void>): void {
  const waitForOther = eventLoopScheduler.wait.bind(eventLoopScheduler);
  eventLoopScheduler.wait = (tenantId, place) =>
    place === 'requests' ? wait() : waitForOther(tenantId, place);
}

function restoreTurns(): void {
  Reflect.deleteProperty(eventLoopScheduler, 'wait');
}

describe('A request with long headers (D25)', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });

  afterEach(restoreTurns);
  after(() => server.close(0));

  it('waits for the turn of its tenant before its Accept header is read', async () => {
    const turn = deferred<void>();
    replaceTurns(() => turn.promise);
    const accept = Array.from({ length: 1000 }, (_, n) => `image/x-${n}`).join(',');
    let isAnswered = false;
    const answered = server
      .request('GET', '/pipelines/runs', undefined, { accept })
      .finally(() => (isAnswered = true));
    await settle(50);
    expect(isAnswered).to.equal(false);
    turn.resolve();
    expect((await answered).status).to.equal(406);
  });
});

describe('GET /pipelines/runs/{run_id}/snapshot (D25)', () => {
  afterEach(restoreTurns);

  it('reads the actors at the beginning of a turn of its tenant, so that the time that this takes counts', async () => {
    const server = await startTestServer();
    try {
      const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
      const { body } = await server.request('POST', '/pipelines/run_async', { pipeline });
      const { run_id: runId } = body as { run_id: string };
      let isBeginning = false;
      const seen: boolean[] = [];
      replaceTurns(() => {
        isBeginning = true;
        queueMicrotask(() => queueMicrotask(() => (isBeginning = false)));
        return Promise.resolve();
      });
      server.registry.queries.snapshot = () => {
        seen.push(isBeginning);
        return {};
      };
      expect((await server.request('GET', `/pipelines/runs/${runId}/snapshot`)).status).to.equal(200);
      expect(seen).to.deep.equal([true]);
    } finally {
      await server.close(0);
    }
  });
});
