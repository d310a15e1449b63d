import { expect } from 'chai';
import { RawSocket, readAnswer } from '../../support/http/raw-socket.js';
import { type Serving, serving } from '../../support/http/serving.js';
import { headOf } from '../support/posting.js';

const LIMIT = 4096;

describe('a body that is too large (D38)', () => {
  let server: Serving;
  before(async () => {
    server = await serving({ env: { SERVICE_BODY_LIMIT: String(LIMIT) } });
  });
  after(() => server.close(0));

  const sized = (bytes: number): string => `{"yaml": "${'x'.repeat(bytes - 12)}"}`;

  it('is answered 413, and one byte less is not', async () => {
    const json = { 'content-type': 'application/json' };
    expect((await server.ask('POST', '/pipelines/validate', sized(LIMIT), json)).status).to.equal(200);
    const over = await server.ask('POST', '/pipelines/validate', sized(LIMIT + 1), json);
    expect(over.status).to.equal(413);
    expect(over.body).to.have.deep.property('detail', {
      code: 'body_too_large',
      message: 'the body is larger than 4096 bytes',
    });
  });

  it('is refused by its Content-Length before it is sent, and the connection closed', async () => {
    for (const length of [LIMIT + 1, 2 ** 31, 2 ** 32 + 2, Number.MAX_SAFE_INTEGER]) {
      const answer = await new RawSocket(server.url).send(headOf(`Content-Length: ${length}`)).answer();
      expect(answer.status).to.equal(413);
      expect(answer.headers['connection']).to.equal('close');
    }
  });

  it('is not asked for where the client waits for leave, and one that is small enough is', async () => {
    const large = headOf(`Content-Length: ${LIMIT + 1}\r\nExpect: 100-continue`);
    const { status, text } = await new RawSocket(server.url).send(large).answer();
    expect(status).to.equal(413);
    expect(text).not.to.contain('100 Continue');

    const small = new RawSocket(server.url);
    small.send(headOf('Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close'));
    await small.says('HTTP/1.1 100 Continue\r\n\r\n');
    small.send('{}');
    await small.closed;
    expect(readAnswer(small.text.slice(small.text.indexOf('\r\n\r\n') + 4)).status).to.equal(400);
  });

  it('is refused in chunks that do not end, and not read on', async () => {
    const asked = new RawSocket(server.url).send(headOf('Transfer-Encoding: chunked'));
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    let sent = 0;
    // More than the two systems hold between them.
    while (asked.isOpen && sent++ < 1000) await asked.push(chunk);
    const answer = await asked.answer();
    expect(answer.status).to.equal(413);
    expect(answer.headers['connection']).to.equal('close');
    expect(sent).to.be.below(1000);
  });

  it('is one of YAML, too', async () => {
    const { status } = await server.ask('POST', '/pipelines/validate', 'x'.repeat(LIMIT + 1), {
      'content-type': 'application/yaml',
    });
    expect(status).to.equal(413);
  });

  it('that breaks off leaves a line in the log, and no fault', async () => {
    const asked = new RawSocket(server.url);
    await asked.push(`${headOf('Content-Length: 100')}{"a`);
    asked.leave();
    const line = () => server.log.find(({ facts }) => facts['left'] === true);
    while (line() === undefined) await server.ask('GET', '/health');
    expect(line()?.facts).to.include({ path: '/pipelines/validate', method: 'POST' });
    expect(server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});
