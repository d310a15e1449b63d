import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { ControlledServer } from '../support/controlled-server.js';

describe('A bug in a handler (D32)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  after(() => fixture.close());

  const SECRET = 'the password is swordfish';

  async function expectBug(path: string): Promise<void> {
    const { status, body, headers } = await fixture.request<ErrorBody>('GET', path);
    expect(status).to.equal(500);
    const { id = '' } = body.detail;
    expect(body).to.deep.equal({
      detail: {
        code: 'internal',
        message: `internal error: the server's log has the details under ${id}`,
        id,
      },
    });
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(fixture.server.log.findLast(({ level }) => level === 'error')?.facts).to.include({
      id,
      method: 'GET',
    });
  }

  it('responds with 500 and an id that the log repeats, without details of the error', async () => {
    const { registry } = fixture.server;
    for (const thrown of [
      new Error(SECRET),
      SECRET,
      undefined,
      Object.assign(new Error(SECRET), { status: 418 }),
    ]) {
      registry.queries.actors.snapshot = () => {
        throw thrown;
      };
      await expectBug(`/pipelines/runs/${await fixture.submit()}/snapshot`);
      expect(fixture.server.log.findLast(({ level }) => level === 'error')?.facts['err']).to.equal(thrown);
    }
  });

  it('reports a response that violates its own schema', async () => {
    const runId = await fixture.submit();
    const { queries } = fixture.server.registry;
    const honest = queries.record.bind(queries);
    queries.record = () => ({ ...honest(runId), status: SECRET }) as unknown as RunRecord;
    await expectBug(`/pipelines/runs/${runId}`);
    queries.record = honest;
  });

  it('does not stop the server', async () => {
    expect((await fixture.request('GET', '/health')).status).to.equal(200);
  });
});
