import { expect } from 'chai';
import { RawSocket } from '../../support/http/raw-socket.js';
import { ControlledServer } from '../support/controlled-server.js';

const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
const CLOSE = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';

function post(path: string, tool: string, headers: string): string {
  const body = JSON.stringify({ pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool }] } });
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Lists the answers in their order: the status and the beginning of the body of each response. */
function toAnswers(text: string): string[] {
  return text
    .split(/(?=HTTP\/1\.1 )/)
    .map((response) => `${response.slice(9, 12)} ${response.split('\r\n\r\n')[1]?.slice(0, 11)}`);
}

describe('A request that asks for a protocol which the server does not speak', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  const ask = async (...packets: string[]): Promise<string[]> => {
    const socket = new RawSocket(fixture.server.url);
    for (const packet of packets) socket.send(packet);
    return toAnswers((await socket.readResponse()).text);
  };

  it('is answered with its body, and so is the request that was sent right after it', async () => {
    const first = post('/pipelines/validate', 'mock', UPGRADE);
    const expected = ['200 {"ok":true,', '200 {"status":"'];
    expect(await ask(first + CLOSE), 'in one packet').to.deep.equal(expected);
    expect(await ask(first, CLOSE), 'in two packets').to.deep.equal(expected);
    expect(await ask(first.slice(0, -20), first.slice(-20) + CLOSE), 'with a cut body').to.deep.equal(
      expected,
    );
  });

  it('may ask so again and again on the same connection', async () => {
    const one = post('/pipelines/validate', 'mock', UPGRADE);
    const answers = await ask(one + one + HEALTH + CLOSE);
    expect(answers.map((answer) => answer.slice(0, 3))).to.deep.equal(['200', '200', '200', '200']);
    const health = HEALTH.replace('\r\n\r\n', `\r\n${UPGRADE}\r\n`);
    expect(await ask(health + health + CLOSE), 'without a body').to.have.length(3);
    expect(await ask(health, health, CLOSE), 'without a body, in packets').to.have.length(3);
  });

  it('keeps the connection open for a request that comes later', async () => {
    const socket = new RawSocket(fixture.server.url);
    socket.send(post('/pipelines/validate', 'mock', UPGRADE));
    await socket.waitForText('\r\n\r\n{"ok":true');
    socket.send(CLOSE);
    expect(toAnswers((await socket.readResponse()).text)).to.deep.equal([
      '200 {"ok":true,',
      '200 {"status":"',
    ]);
  });

  it('is answered after the request before it', async () => {
    const started = fixture.controlled.calls.length;
    const socket = new RawSocket(fixture.server.url);
    socket.send(
      post('/pipelines/run', 'controlled', '') + post('/pipelines/validate', 'mock', UPGRADE) + CLOSE,
    );
    while (fixture.controlled.calls.length === started) await fixture.server.request('GET', '/health');
    expect(socket.text).to.equal('');
    await fixture.controlled.returns('done');
    const answers = toAnswers((await socket.readResponse()).text);
    expect(answers).to.deep.equal(['200 {"outputs":', '200 {"ok":true,', '200 {"status":"']);
  });
});
