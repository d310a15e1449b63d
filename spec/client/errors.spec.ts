import { expect } from 'chai';
import { type ErrorDetail, RequestError, WavetrainClient, WavetrainError } from '../../lib/client/index.js';
import type { ErrorBody } from '../../lib/http/schemas/error.js';
import { rejectionOf } from '../support/rejection.js';
import { answerJson, FakeServer } from './fake-server.js';

/** What a server may say is what the client has a type for. */
const asTyped = (body: ErrorBody): ErrorDetail => body.detail;

async function errorFrom(fake: FakeServer): Promise<RequestError> {
  const error = await rejectionOf(new WavetrainClient({ url: fake.url, retries: 0 }).tools());
  await fake.close();
  expect(error).to.be.instanceOf(RequestError).and.instanceOf(WavetrainError);
  return error as RequestError;
}

describe('What a client makes of errors', () => {
  it('is an error with the code, the words, the status and all that the server said (D32)', async () => {
    const body: ErrorBody = { detail: { code: 'internal', message: 'an internal error', id: 'bug-1' } };
    const error = await errorFrom(await FakeServer.open((response) => answerJson(response, 500, body)));
    expect(error).to.include({
      code: 'internal',
      message: 'an internal error',
      status: 500,
      fault: 'service',
    });
    expect(error.detail).to.deep.equal(asTyped(body));
  });

  it('is, where no server is, one that names the address', async () => {
    const fake = await FakeServer.open((response) => response.end());
    const { url } = fake;
    await fake.close();
    const client = new WavetrainClient({ url, retries: 0 });
    for (const ask of [
      () => client.health(),
      () => client.run({ pipeline: {} }),
      () => client.events('r').next(),
    ]) {
      const error = await rejectionOf(ask());
      expect(error).to.include({ code: 'server_unreachable', status: undefined, fault: 'service' });
      expect(error).to.have.property(
        'message',
        `cannot reach a server at ${url}: the connection was refused`,
      );
    }
  });

  it('is the same for a name that nobody has', async () => {
    const lookup = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    const failing: typeof fetch = () => Promise.reject(new TypeError('fetch failed', { cause: lookup }));
    const client = new WavetrainClient({ url: 'http://nowhere.invalid', fetch: failing, retries: 0 });
    expect(await rejectionOf(client.health())).to.have.property(
      'message',
      'cannot reach a server at http://nowhere.invalid: its name is not known',
    );
  });

  it('is one for a connection that breaks in the middle of an answer', async () => {
    const fake = await FakeServer.open((response) => {
      response.writeHead(200, { 'content-length': '1000', 'content-type': 'application/json' });
      response.write('{"tools": [', () => response.destroy());
    });
    expect(await errorFrom(fake)).to.include({ code: 'server_unreachable', status: undefined });
  });

  for (const status of [200, 404, 502]) {
    it(`says that no Wavetrain answered when a page comes with ${status}`, async () => {
      const fake = await FakeServer.open((response) =>
        response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
      );
      const { url } = fake;
      const error = await errorFrom(fake);
      expect(error).to.include({ code: 'server_unreachable', status, detail: undefined });
      expect(error.message).to.contain(`${url} answered ${status} with text/html`);
    });
  }

  for (const body of [{}, [], null, { detail: 'Not Found' }, { detail: null }, { detail: { code: 404 } }]) {
    it(`says so of ${JSON.stringify(body)} too`, async () => {
      const error = await errorFrom(await FakeServer.open((response) => answerJson(response, 404, body)));
      expect(error.message).to.contain('no answer of Wavetrain');
    });
  }

  it('follows no redirection, and names where it leads', async () => {
    const fake = await FakeServer.open((response) =>
      response.writeHead(301, { location: 'https://example.org/x' }).end(),
    );
    const { message } = await errorFrom(fake);
    expect(message).to.contain('https://example.org/x').and.to.contain('301');
    expect(fake.asked).to.have.length(1);
  });

  it('works with a server behind a path', async () => {
    const fake = await FakeServer.open((response) => answerJson(response, 200, { status: 'ok' }));
    await new WavetrainClient({ url: `${fake.url}/wavetrain/` }).health();
    expect(fake.asked.map(({ path }) => path)).to.deep.equal(['/wavetrain/health']);
    await fake.close();
  });
});
