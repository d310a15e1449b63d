import { expect } from 'chai';
import { RawSocket } from '../../support/http/raw-socket.js';
import { BodyServer, formatRequestHead } from '../support/body-server.js';

const PIPELINE = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };

describe('The media type of a request body (D33)', () => {
  const bodies = new BodyServer();
  const { post } = bodies;

  describe('decides whether the body is read or refused with 415', () => {
    const REFUSED = [
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/vnd.api+json',
      'application/json, text/plain',
      'json',
      'application/json; charset=latin1',
      'application/json; charset="utf-16"',
      'application/json; charset=',
      'application/json; charset=utf-8; charset=latin1',
      'application/json; charset=utf-8; charset=utf-8',
      'application/yaml; charset=utf-16',
    ];
    for (const type of REFUSED) {
      it(`refuses ${type === '' ? 'a missing Content-Type' : type}`, async () =>
        expect(await post('{}', type)).to.include({ status: 415, code: 'unsupported_media_type' }));
    }

    for (const type of [
      'application/json;',
      'APPLICATION/JSON; charset=UTF-8',
      'application/json; charset="utf-8"',
    ]) {
      it(`accepts ${type}`, async () => expect((await post('{}', type)).status).to.equal(400));
    }

    for (const field of [
      'Content-Encoding: gzip',
      'Content-Encoding: br',
      'Content-Encoding: identity, gzip',
      'Transfer-Encoding: gzip, chunked',
    ]) {
      it(`refuses ${field}`, async () => {
        const [length, sent] = field.startsWith('T')
          ? ['', '2\r\n{}\r\n0\r\n\r\n']
          : ['Content-Length: 2\r\n', '{}'];
        const socket = new RawSocket(bodies.server.url).send(
          `${formatRequestHead(`${length}${field}\r\nConnection: close`)}${sent}`,
        );
        const { status, body } = await socket.readResponse();
        expect(status).to.equal(415);
        expect(JSON.parse(body).detail.message).to.contain('compressed');
      });
    }

    it('refuses YAML on a route that accepts only JSON', async () => {
      const run = await bodies.server.request<{ run_id: string }>('POST', '/pipelines/run_async', {
        pipeline: PIPELINE,
      });
      expect(
        (await post('force: true', 'application/yaml', `/pipelines/runs/${run.body.run_id}/cancel`)).status,
      ).to.equal(415);
    });
  });
});
