import { expect } from 'chai';
import { RawSocket, parseRawResponse } from '../../support/http/raw-socket.js';
import { formatRequestHead } from '../support/body-server.js';
import { suiteServer } from '../support/suite-server.js';

const LIMIT = 4096;

describe('A request body over the size limit (D38)', () => {
  const server = suiteServer({ env: { SERVICE_BODY_LIMIT: String(LIMIT) } });

  const sized = (bytes: number): string => `{"yaml": "${'x'.repeat(bytes - 12)}"}`;

  it('is refused with 413, but not at exactly the limit', async () => {
    const json = { 'content-type': 'application/json' };
    expect((await server.request('POST', '/pipelines/validate', sized(LIMIT), json)).status).to.equal(200);
    const over = await server.request('POST', '/pipelines/validate', sized(LIMIT + 1), json);
    expect(over.status).to.equal(413);
    expect(over.body).to.have.deep.property('detail', {
      code: 'body_too_large',
      message: 'the body is larger than 4096 bytes',
    });
  });

  it('is refused by its Content-Length before it arrives, and the connection is closed', async () => {
    for (const length of [LIMIT + 1, 2 ** 31, 2 ** 32 + 2, Number.MAX_SAFE_INTEGER]) {
      const response = await new RawSocket(server.url)
        .send(formatRequestHead(`Content-Length: ${length}`))
        .readResponse();
      expect(response.status).to.equal(413);
      expect(response.headers['connection']).to.equal('close');
    }
  });

  it('gets no 100 Continue, while a smaller body does', async () => {
    const large = formatRequestHead(`Content-Length: ${LIMIT + 1}\r\nExpect: 100-continue`);
    const { status, text } = await new RawSocket(server.url).send(large).readResponse();
    expect(status).to.equal(413);
    expect(text).not.to.contain('100 Continue');

    const small = new RawSocket(server.url);
    small.send(formatRequestHead('Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close'));
    await small.waitForText('HTTP/1.1 100 Continue\r\n\r\n');
    small.send('{}');
    await small.closed;
    expect(parseRawResponse(small.text.slice(small.text.indexOf('\r\n\r\n') + 4)).status).to.equal(400);
  });

  it('is refused when it arrives in endless chunks, and not read further', async () => {
    const socket = new RawSocket(server.url).send(formatRequestHead('Transfer-Encoding: chunked'));
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    let sent = 0;
    // More than the two systems hold between them.
    while (socket.isOpen && sent++ < 1000) await socket.push(chunk);
    const response = await socket.readResponse();
    expect(response.status).to.equal(413);
    expect(response.headers['connection']).to.equal('close');
    expect(sent).to.be.below(1000);
  });

  it('is refused when it is YAML', async () => {
    const { status } = await server.request('POST', '/pipelines/validate', 'x'.repeat(LIMIT + 1), {
      'content-type': 'application/yaml',
    });
    expect(status).to.equal(413);
  });

  it('leaves one log line and no error when it ends early', async () => {
    const socket = new RawSocket(server.url);
    await socket.push(`${formatRequestHead('Content-Length: 100')}{"a`);
    socket.disconnect();
    const line = () => server.log.find(({ facts }) => facts['left'] === true);
    while (line() === undefined) await server.request('GET', '/health');
    expect(line()?.facts).to.include({ path: '/pipelines/validate', method: 'POST' });
    expect(server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});
