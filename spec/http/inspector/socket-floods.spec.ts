import { expect } from 'chai';
import { INSPECTOR_LIMITS } from '../../../lib/http/inspector/socket-limits.js';
import { settle } from '../../support/deferred.js';
import { RawSocket } from '../../support/http/raw-socket.js';
import { ControlledServer } from '../support/controlled-server.js';

const TEXT = 1;
const PONG = 10;

/** A masked frame, as pages send them. */
function frame(opcode: number, text = ''): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

function repeat(bytes: Buffer, count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => bytes));
}

describe('Pages that flood the WebSocket of the Stately inspector', () => {
  const fixture = new ControlledServer();
  const sockets: RawSocket[] = [];
  before(() => fixture.open());
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.disconnect();
    await fixture.clear();
  });
  after(() => fixture.close());

  const ask = (query: string, method = 'GET', more = ''): RawSocket => {
    const socket = new RawSocket(fixture.server.url);
    sockets.push(socket);
    return socket.send(
      `${method} /inspect/ws${query} HTTP/1.1\r\nHost: localhost\r\n${more}Upgrade: websocket\r\nConnection: Upgrade\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
  };
  const open = async (runId = 'x'): Promise<RawSocket> => {
    const socket = ask(`?run=${runId}`);
    await socket.waitForText('101 Switching Protocols');
    return socket;
  };

  it('are disconnected when they send pongs without end, before they have sent a key', async () => {
    const socket = await open();
    socket.send(repeat(frame(PONG), 10_000));
    await socket.closed;
  });

  it('are disconnected when they send pongs without end, while they are informed about a run', async () => {
    const runId = await fixture.submit();
    const socket = await open(runId);
    socket.send(frame(TEXT, '{}'));
    await socket.waitForText('"name":"a"');
    socket.send(repeat(frame(PONG), 10_000));
    await socket.closed;
  });

  it('stay when they only answer each heartbeat, for longer than what they may send at once would last', async () => {
    const runId = await fixture.submit();
    const socket = await open(runId);
    socket.send(frame(TEXT, '{}'));
    await socket.waitForText('"name":"a"');
    const beats = Math.ceil((2 * INSPECTOR_LIMITS.receivedBytes) / 600);
    for (let beat = 0; beat < beats; beat++) {
      socket.send(repeat(frame(PONG), 100));
      await fixture.server.request('GET', '/health');
      await settle();
      fixture.clock.advance(INSPECTOR_LIMITS.heartbeatMs);
    }
    expect(socket.isOpen).to.equal(true);
  });

  it('lock nobody out who sends a key: the oldest without one is closed for the next', async () => {
    const runId = await fixture.submit();
    const idle = await Promise.all(Array.from({ length: INSPECTOR_LIMITS.sockets }, () => open()));
    const late = await open(runId);
    late.send(frame(TEXT, '{}'));
    await late.waitForText('"name":"a"');
    await Promise.race(idle.map(({ closed }) => closed));
    expect(idle.filter(({ isOpen }) => isOpen)).to.have.length(INSPECTOR_LIMITS.sockets - 1);
  });

  it('are disconnected a second after they were refused, when they do not answer', async () => {
    const socket = await open();
    socket.send(frame(TEXT, 'no key'));
    await socket.waitForText('the first message must be');
    expect(socket.isOpen).to.equal(true);
    fixture.clock.advance(INSPECTOR_LIMITS.closeMs);
    await socket.closed;
  });

  it('are answered like any other request when they ask with POST, or send two Host headers', async () => {
    const post = await ask('?run=x', 'POST').readResponse();
    expect(post.status).to.equal(405);
    expect(post.body).to.include('method_not_allowed');
    const twice = await ask('?run=x', 'GET', 'Host: other\r\n').readResponse();
    expect(twice.body).to.include('the request has more than one Host header');
  });
});
