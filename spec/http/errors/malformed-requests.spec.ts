import { createServer, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { handleMalformedRequests } from '../../../lib/http/errors/malformed-requests.js';
import { SECURITY_HEADERS } from '../../../lib/http/security/browser-guard.js';
import { settle } from '../../support/deferred.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { type RawResponse, RawSocket, parseRawResponse } from '../../support/http/raw-socket.js';
import { suiteServer } from '../support/suite-server.js';

const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\n';

function expectError(response: RawResponse, status: number, code: string): void {
  expect(response.status, response.text).to.equal(status);
  const { detail } = JSON.parse(response.body) as { detail: Record<string, unknown> };
  expect(detail).to.have.all.keys('code', 'message').and.to.include({ code });
  expect(response.headers).to.include({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(response.body)),
    connection: 'close',
  });
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    expect(response.headers).to.have.property(name.toLowerCase(), value);
  }
}

describe('A malformed request (D32)', () => {
  const controlled = new ControlledTool();
  const server = suiteServer({ tools: [controlled.tool] });

  const sendText = (text: string): Promise<RawResponse> =>
    new RawSocket(server.url).send(text).readResponse();

  const BROKEN: [what: string, text: string, status: number, code: string][] = [
    ['nonsense', 'nonsense\r\n\r\n', 400, 'invalid_request'],
    ['the greeting of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001', 400, 'invalid_request'],
    ['the greeting of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_request'],
    ['a method that HTTP does not have', 'FLY /health HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
    [
      'a version that HTTP does not have',
      'GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n',
      400,
      'invalid_request',
    ],
    ['a header without a name', `${HEALTH}: x\r\n\r\n`, 400, 'invalid_request'],
    ['a header with a line end alone', `${HEALTH}X: a\nY: b\rZ\r\n\r\n`, 400, 'invalid_request'],
    ['two lengths', `${HEALTH}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400, 'invalid_request'],
    [
      'a length and chunks',
      `${HEALTH}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
      'invalid_request',
    ],
    ['a length that is none', `${HEALTH}Content-Length: -1\r\n\r\n`, 400, 'invalid_request'],
    ['headers of 20 KB', `${HEALTH}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'header_too_large'],
    ['headers of 2 MB', `${HEALTH}X: ${'x'.repeat(2_000_000)}\r\n\r\n`, 431, 'header_too_large'],
    ['a path of 20 KB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 431, 'header_too_large'],
    [
      'a thousand headers',
      `${HEALTH}${'X: xxxxxxxxxxxxxxxxxx\r\n'.repeat(1000)}\r\n`,
      431,
      'header_too_large',
    ],
    ['no Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 403, 'foreign_host'],
    ['no Host, as HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n', 403, 'foreign_host'],
    ['an expectation', `${HEALTH}Expect: tea\r\n\r\n`, 400, 'invalid_request'],
    [
      'a request to a proxy',
      'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      405,
      'method_not_allowed',
    ],
  ];
  for (const [what, text, status, code] of BROKEN) {
    it(`with ${what} gets ${status}`, async () => expectError(await sendText(text), status, code));
  }

  it('that asks for a protocol which the server does not speak is handled as plain HTTP', async () => {
    const upgrade = `${HEALTH}Connection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`;
    expect(await sendText(upgrade)).to.include({ status: 200, body: '{"status":"ok"}' });
  });

  it('with invalid chunks gets 400 after valid headers', async () => {
    const chunks =
      'POST /pipelines/validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n';
    expectError(await sendText(chunks), 400, 'invalid_request');
  });

  it('after a valid one on the same connection gets its own response', async () => {
    const { text } = await sendText(`${HEALTH}\r\nnonsense\r\n\r\n`);
    const [first = '', second = ''] = text.split(/(?=HTTP\/1\.1 )/);
    expect(parseRawResponse(first).status).to.equal(200);
    expectError(parseRawResponse(second), 400, 'invalid_request');
  });

  for (const [what, broken, status] of [
    ['is nonsense', 'nonsense\r\n\r\n', 400],
    ['asks for a proxy', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
  ] as const) {
    it(`that ${what} gets its response after that of the run before it`, async () => {
      const body = JSON.stringify({
        pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] },
      });
      const started = controlled.calls.length;
      const socket = new RawSocket(server.url).send(
        `POST /pipelines/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}${broken}`,
      );
      socket.send(broken);
      while (controlled.calls.length === started) await server.request('GET', '/health');
      expect(socket.text).to.equal('');
      await controlled.returns('done');
      const { text } = await socket.readResponse();
      const responses = text.split(/(?=HTTP\/1\.1 )/).map((response) => parseRawResponse(response));
      expect(responses.map((response) => response.status)).to.deep.equal([200, status]);
      expect(JSON.parse(responses[0]?.body ?? '').outputs).to.deep.equal({ a: 'done' });
    });
  }

  it('from a client that disconnects at once does no harm', async () => {
    for (const text of [
      'nonsense\r\n\r\n',
      'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
      `${HEALTH}X: ${'x'.repeat(20_000)}`,
    ]) {
      const socket = new RawSocket(server.url);
      await socket.push(text);
      socket.disconnect();
    }
    expect((await server.request('GET', '/health')).status).to.equal(200);
    expect(server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

describe('A request that does not arrive completely (D32)', () => {
  const TIMES: ServerOptions = { headersTimeout: 30, requestTimeout: 60, connectionsCheckingInterval: 10 };
  let server: Server;
  let url: string;
  let respond: (response: ServerResponse) => void;

  before(async () => {
    server = createServer(TIMES, (request, response) => {
      request.on('error', () => {});
      respond(response);
    });
    handleMalformedRequests(server);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    respond = () => {};
  });
  after(() => server.close());

  const SLOW = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nslow';

  it('gets 408 when its headers are late', async () => {
    expectError(await new RawSocket(url).send(HEALTH).readResponse(), 408, 'request_timeout');
  });

  it('gets 408 when nothing arrives at all', async () => {
    expectError(await new RawSocket(url).readResponse(), 408, 'request_timeout');
  });

  it('gets 408 when its body is late', async () => {
    expectError(await new RawSocket(url).send(SLOW).readResponse(), 408, 'request_timeout');
  });

  it('gets 408 when its chunks do not end', async () => {
    const socket = new RawSocket(url).send(
      'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    while (socket.isOpen) {
      socket.send('1\r\nx\r\n');
      await settle();
    }
    expectError(await socket.readResponse(), 408, 'request_timeout');
  });

  it('is disconnected without 408 when its response has begun or is complete', async () => {
    respond = (response) => response.write('begun');
    const begun = await new RawSocket(url).send(SLOW).readResponse();
    expect(begun.text).to.contain('begun').and.not.to.contain('408');
    respond = (response) => response.end('complete');
    const complete = await new RawSocket(url).send(SLOW).readResponse();
    expect(complete.text).to.contain('complete').and.not.to.contain('408');
  });
});
