import { expect } from 'chai';
import { RawSocket } from '../../support/http/raw-socket.js';
import { BodyServer, formatRequestHead } from '../support/body-server.js';

describe('A request body (D32, D33, D38)', () => {
  const bodies = new BodyServer();
  const { post } = bodies;

  describe('that is not JSON', () => {
    const BROKEN: [body: string, place: string][] = [
      ['{"secret": hush}', 'line 1, column 12'],
      ['{"pipeline": {},\n  "secret" "hush"}', 'line 2, column 12'],
      ['{"secret": "hush"', 'line 1, column 18'],
      ['secret=hush', 'line 1, column 1'],
      ['{"secret": "hush"} hush', 'line 1, column 20'],
      ['\n\n', 'line 3, column 1'],
      ["{'secret': 1}", 'line 1, column 2'],
      ['NaN', 'line 1, column 1'],
    ];
    for (const [body, place] of BROKEN) {
      it(`is refused with the position of the error, without an echo: ${JSON.stringify(body)}`, async () => {
        const { status, code, message } = await post(body);
        expect({ status, code }).to.deep.equal({ status: 400, code: 'invalid_request' });
        expect(message)
          .to.contain(`the body is not JSON: ${place} `)
          .and.not.to.match(/hush|secret/);
      });
    }

    it('is refused without an echo of a long string', async () => {
      const { status, message } = await post(`{"a": "${'x'.repeat(1_900_000)}", }`);
      expect(status).to.equal(400);
      expect(message.length).to.be.below(200);
    });
  });

  describe('that is JSON but not an object', () => {
    for (const body of ['null', '1', '"text"', '[]', 'true', '{}']) {
      it(`is refused: ${body}`, async () =>
        expect(await post(body)).to.include({ status: 400, code: 'invalid_request' }));
    }
  });

  describe('that is not UTF-8', () => {
    // Some of the bytes have the length of the replacement character.
    for (const bytes of [[0xff], [0xc3], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      it(`is refused: ${Buffer.from(bytes).toString('hex')}`, async () => {
        const text = (start: string, end: string): Buffer =>
          Buffer.concat([Buffer.from(start), Buffer.from(bytes), Buffer.from(end)]);
        const json = await post(text('{"pipeline": {"id": "', '"}}'));
        expect(json).to.deep.equal({
          status: 400,
          code: 'invalid_request',
          message: 'the body is not UTF-8',
        });
        expect(await post(text('pipeline: ', ''), 'application/yaml')).to.deep.equal(json);
      });
    }

    it('is not confused with one that contains the replacement character', async () => {
      const { status, message } = await post('{"yaml": "\ufffd\ufffd"}', undefined, '/pipelines/validate');
      expect(status).to.equal(200);
      expect(message).to.contain('"ok":false');
    });

    it('is not confused with one whose characters arrive in several chunks', async () => {
      const body = Buffer.from('{"yaml": "☂😀"}');
      const socket = new RawSocket(bodies.server.url);
      socket.send(
        formatRequestHead(`Content-Length: ${body.length}\r\nConnection: close`, '/pipelines/validate'),
      );
      for (const byte of body) socket.send(Uint8Array.of(byte));
      expect((await socket.readResponse()).status).to.equal(200);
    });
  });

  it('is reported as missing when there is none, an empty one, or no chunk', async () => {
    for (const [fields, body] of [
      ['Connection: close', ''],
      ['Connection: close\r\nContent-Length: 0', ''],
      ['Connection: close\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
    ]) {
      const response = await new RawSocket(bodies.server.url)
        .send(`${formatRequestHead(fields ?? '')}${body}`)
        .readResponse();
      expect(response.status).to.equal(400);
      expect(JSON.parse(response.body).detail.message).to.equal('the body is missing');
    }
  });

  it('is ignored on a route without a body', async () => {
    const socket = `GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\n\r\n{]}`;
    expect((await new RawSocket(bodies.server.url).send(socket).readResponse()).status).to.equal(200);
  });
});
