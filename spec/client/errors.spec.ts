import { expect } from 'chai';
import { RequestError, WavetrainClient, WavetrainError } from '../../lib/client/index.js';
import type { ErrorBody } from '../../lib/http/schemas/error.js';
import { catchRejection } from '../support/rejection.js';
import { respondJson, FakeServer } from './fake-server.js';

async function errorFrom(fake: FakeServer): Promise<RequestError> {
  const error = await catchRejection(new WavetrainClient({ url: fake.url, retries: 0 }).tools());
  await fake.close();
  expect(error).to.be.instanceOf(RequestError).and.instanceOf(WavetrainError);
  return error as RequestError;
}

describe('RequestError', () => {
  it('has the code, message, status and detail of the response (D32)', async () => {
    const body: ErrorBody = { detail: { code: 'internal', message: 'an internal error', id: 'bug-1' } };
    const error = await errorFrom(await FakeServer.open((response) => respondJson(response, 500, body)));
    expect(error).to.include({
      code: 'internal',
      message: 'an internal error',
      status: 500,
      fault: 'service',
    });
    expect(error.detail).to.deep.equal(body.detail);
  });

  it('names the address when no server is running there', async () => {
    const fake = await FakeServer.open((response) => response.end());
    const { url } = fake;
    await fake.close();
    const client = new WavetrainClient({ url, retries: 0 });
    for (const ask of [
      () => client.health(),
      () => client.run({ pipeline: {} }),
      () => client.events('r').next(),
    ]) {
      const error = await catchRejection(ask());
      expect(error).to.include({ code: 'server_unreachable', status: undefined, fault: 'service' });
      expect(error).to.have.property(
        'message',
        `cannot reach a server at ${url}: the connection was refused`,
      );
    }
  });

  it('explains an unknown host name', async () => {
    const lookup = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    const failing: typeof fetch = () => Promise.reject(new TypeError('fetch failed', { cause: lookup }));
    const client = new WavetrainClient({ url: 'http://nowhere.invalid', fetch: failing, retries: 0 });
    expect(await catchRejection(client.health())).to.have.property(
      'message',
      'cannot reach a server at http://nowhere.invalid: the host name is unknown',
    );
  });

  it('reports a connection that breaks in the middle of a response', async () => {
    const fake = await FakeServer.open((response) => {
      response.writeHead(200, { 'content-length': '1000', 'content-type': 'application/json' });
      response.write('{"tools": [', () => response.destroy());
    });
    expect(await errorFrom(fake)).to.include({ code: 'server_unreachable', status: undefined });
  });

  for (const status of [200, 404, 502]) {
    it(`reports an HTML page with status ${status} as a response of another server`, async () => {
      const fake = await FakeServer.open((response) =>
        response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
      );
      const { url } = fake;
      const error = await errorFrom(fake);
      expect(error).to.include({ code: 'server_unreachable', status, detail: undefined });
      expect(error.message).to.contain(`${url} responded with ${status} and text/html`);
    });
  }

  for (const body of [{}, [], null, { detail: 'Not Found' }, { detail: null }, { detail: { code: 404 } }]) {
    it(`reports the error body ${JSON.stringify(body)} as a response of another server`, async () => {
      const error = await errorFrom(await FakeServer.open((response) => respondJson(response, 404, body)));
      expect(error.message).to.contain('not a response of Wavetrain');
    });
  }

  it('reports a redirect and its target instead of following it', async () => {
    const fake = await FakeServer.open((response) =>
      response.writeHead(301, { location: 'https://example.org/x' }).end(),
    );
    const { message } = await errorFrom(fake);
    expect(message).to.contain('https://example.org/x').and.to.contain('301');
    expect(fake.requests).to.have.length(1);
  });

  it('does not occur with a server behind a path', async () => {
    const fake = await FakeServer.open((response) => respondJson(response, 200, { status: 'ok' }));
    await new WavetrainClient({ url: `${fake.url}/wavetrain/` }).health();
    expect(fake.requests.map(({ path }) => path)).to.deep.equal(['/wavetrain/health']);
    await fake.close();
  });
});
