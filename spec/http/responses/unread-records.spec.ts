import { expect } from 'chai';
import { READER_TIMEOUT_MS } from '../../../lib/http/responses/slow-readers.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { settle } from '../../support/deferred.js';
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

  it('are cut off when their reader accepts nothing for 30 seconds', async () => {
    for (let count = 0; count < 5; count++) {
      const socket = new RawSocket(fixture.server.url);
      socket.pause();
      sockets.push(socket.send(`GET /pipelines/runs/${runId} HTTP/1.1\r\nHost: localhost\r\n\r\n`));
    }
    const countCut = (): number =>
      fixture.server.log.filter(({ message }) => message.startsWith('client disconnected')).length;
    await settle(300);
    expect(countCut()).to.equal(0);
    while (countCut() < 5) {
      fixture.clock.advance(READER_TIMEOUT_MS);
      await settle(20);
    }
    const requests = fixture.server.log.filter(({ facts }) => facts['left'] === true);
    expect(requests).to.have.length(5);
    expect(fixture.clock.pending).to.equal(0);
  });

  it('share the lists of a settled run, so that a thousand of them take no more memory than one', () => {
    const { registry } = fixture.server;
    expect(registry.record(runId).failures).to.equal(registry.record(runId).failures);
    expect(registry.record(runId).result?.outputs).to.equal(registry.record(runId).result?.outputs);
  });
});
