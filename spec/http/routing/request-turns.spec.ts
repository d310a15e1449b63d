import { expect } from 'chai';
import { mock } from 'node:test';
import { eventLoopScheduler } from '../../../lib/common/scheduling/event-loop-scheduler.js';
import { deferred, settle } from '../../support/deferred.js';
import { startTestServer } from '../../support/http/test-server.js';
import { suiteServer } from '../support/suite-server.js';

describe('A request with long headers (D25)', () => {
  const server = suiteServer();
  let wait: ReturnType<typeof mock.method>;

  after(async () => {
    wait.mock.restore();
  });

  it('waits for the turn of its tenant before its Accept header is read', async () => {
    const turn = deferred<void>();
    wait = mock.method(eventLoopScheduler, 'wait', () => turn.promise);
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
  it('reads the actors at the beginning of a turn of its tenant, so that the time that this takes counts', async () => {
    const server = await startTestServer();
    let isBeginning = false;
    const wait = mock.method(eventLoopScheduler, 'wait', () => {
      isBeginning = true;
      queueMicrotask(() => queueMicrotask(() => (isBeginning = false)));
      return Promise.resolve();
    });
    try {
      const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
      const { body } = await server.request('POST', '/pipelines/run_async', { pipeline });
      const { run_id: runId } = body as { run_id: string };
      const seen: boolean[] = [];
      Object.assign(server.registry.queries.actors, {
        snapshot: () => {
          seen.push(isBeginning);
          return {};
        },
      });
      expect((await server.request('GET', `/pipelines/runs/${runId}/snapshot`)).status).to.equal(200);
      expect(seen).to.deep.equal([true]);
    } finally {
      wait.mock.restore();
      await server.close(0);
    }
  });
});
