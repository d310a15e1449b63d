import { expect } from 'chai';
import { countAllowedConnections } from '../../../lib/http/security/connection-limits.js';
import { settle } from '../../support/deferred.js';
import { RawSocket } from '../../support/http/raw-socket.js';
import { ControlledServer } from '../support/controlled-server.js';

describe('A connection', () => {
  const fixture = new ControlledServer();
  const sockets: RawSocket[] = [];
  let runId: string;

  beforeEach(async () => {
    await fixture.open();
    runId = await fixture.submit({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] });
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.disconnect();
    await fixture.clear();
    await fixture.close();
  });

  const get = (path: string, headers = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

  const poll = (): string => get(`/pipelines/runs/${runId}?wait=60`);

  /** Sends all requests in one packet. */
  function send(...requests: string[]): RawSocket {
    const socket = new RawSocket(fixture.server.url).send(requests.join(''));
    sockets.push(socket);
    return socket;
  }

  const countRequests = (): number =>
    fixture.server.log.filter(({ facts }) => facts['path'] === `/pipelines/runs/${runId}`).length;

  it('may have four requests under way', async () => {
    const socket = send(poll(), poll(), poll(), poll());
    await settle(300);
    expect(socket.isOpen).to.equal(true);
    await fixture.complete(runId);
    await socket.waitForText('"succeeded"');
  });

  it('is closed, and all its requests end, when it has more requests under way', async () => {
    const before = fixture.clock.pending;
    const socket = send(...Array.from({ length: 500 }, poll));
    await socket.closed;
    await settle(300);
    expect(fixture.clock.pending).to.equal(before);
    // The others in the packet were not handled.
    expect(countRequests()).to.equal(4);
  });

  it('ends every request that it has sent when it is closed, also those behind another one', async () => {
    const stream = get(`/pipelines/runs/${runId}/events`);
    const before = fixture.clock.pending;
    const socket = send(poll(), stream, poll(), stream);
    while (fixture.clock.pending < before + 2) await settle(10);
    await settle(100);
    socket.disconnect();
    await settle(300);
    expect(fixture.clock.pending).to.equal(before);
    const left = fixture.server.log.filter(({ facts }) => facts['left'] === true);
    expect(left).to.have.length(4);
  });

  it('does not keep a record that is sent behind another response when it is closed', async () => {
    fixture.findCall(runId).resolve('x'.repeat(1_000_000));
    await fixture.server.registry.settled(runId);
    const held = await fixture.submit({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] });
    const socket = send(get(`/pipelines/runs/${held}?wait=60`), get(`/pipelines/runs/${runId}`));
    await settle(300);
    socket.disconnect();
    await settle(300);
    expect(countRequests()).to.equal(1);
    expect(fixture.server.log.at(-1)?.facts).to.include({ left: true });
  });

  it('gets 431 for a request with more than a hundred headers', async () => {
    const headers = (count: number): string =>
      Array.from({ length: count }, (_, index) => `x-${index}: 1\r\n`).join('');
    const accepted = send(get('/health', `${headers(98)}Connection: close\r\n`));
    expect((await accepted.readResponse()).status).to.equal(200);
    for (const count of [99, 150, 1500]) {
      const refused = send(get('/health', `Connection: close\r\n${headers(count)}`));
      const { status, body } = await refused.readResponse();
      expect(status).to.equal(431);
      expect(body).to.contain('more than 100 headers');
    }
  });

  it('is one of at most 10,000, and of fewer when the server has little memory', () => {
    expect(countAllowedConnections(256 * 2 ** 20)).to.equal(10_000);
    expect(countAllowedConnections(2 ** 40)).to.equal(10_000);
    expect(countAllowedConnections(16 * 2 ** 20)).to.equal(630);
  });

  it('gets its responses in the order of its requests', async () => {
    const socket = send(poll(), get('/health'));
    await settle(100);
    expect(socket.text).to.equal('');
    await fixture.complete(runId);
    await socket.waitForText('"status":"ok"');
    expect(socket.text.indexOf(runId)).to.be.below(socket.text.indexOf('"status":"ok"'));
  });
});
