import { expect } from 'chai';
import type { RunRecord } from '../../../lib/runs/record.js';
import { RawSocket } from '../../support/http/raw-socket.js';
import { ControlledServer } from '../support/controlled-server.js';

describe('Long records over HTTP', () => {
  const fixture = new ControlledServer();
  const sockets: RawSocket[] = [];
  let runId: string;
  let record: RunRecord;

  /** The output has 6 MB, the record more than that. */
  const OUTPUT = Array.from({ length: 100_000 }, (_, index) => ({ index, text: `😀 item "${index}"` }));

  before(async () => {
    await fixture.open();
    runId = await fixture.submit({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] });
    fixture.findCall(runId).resolve(OUTPUT);
    await fixture.server.registry.settled(runId);
    record = fixture.server.registry.record(runId);
  });

  after(async () => {
    for (const socket of sockets) socket.disconnect();
    await fixture.clear();
    await fixture.close();
  });

  it('arrive complete, with their ETag', async () => {
    const response = await fetch(`${fixture.server.url}/pipelines/runs/${runId}`);
    expect(response.headers.get('etag')).to.equal(`"${fixture.server.registry.queries.version(runId)}"`);
    expect(await response.text()).to.equal(JSON.stringify(record));
  });

  it('are sent while other requests are answered', async () => {
    const reading = fetch(`${fixture.server.url}/pipelines/runs/${runId}`).then((response) =>
      response.text(),
    );
    let isRead = false;
    void reading.then(() => (isRead = true));
    let answered = 0;
    while (!isRead) {
      expect((await fixture.request('GET', '/pipelines/tools')).status).to.equal(200);
      answered++;
    }
    expect(answered).to.be.above(5);
  });

  it('share the lists of a settled run, so that a thousand of them take no more memory than one', () => {
    const { registry } = fixture.server;
    expect(registry.record(runId).failures).to.equal(registry.record(runId).failures);
    expect(registry.record(runId).result?.outputs).to.equal(registry.record(runId).result?.outputs);
  });
});
