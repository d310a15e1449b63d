import { expect } from 'chai';
import { deferred, settle } from '../../support/deferred.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';

describe('A request with long headers (D25)', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });

  after(() => server.close(0));

  it('waits for the turn of its tenant before its Accept header is read', async () => {
    const turn = deferred<void>();
    Object.assign(server.registry, { fairYield: () => turn.promise });
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
