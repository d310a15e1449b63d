import { request } from 'node:http';
import { expect } from 'chai';
import { readServerConfig } from '../../../lib/common/config/server-config.js';
import { WavetrainError } from '../../../lib/common/errors.js';
import { type GuardedRequest, BrowserGuard } from '../../../lib/http/security/browser-guard.js';
import { suiteServer } from '../support/suite-server.js';

interface Listening {
  readonly host?: string;
  readonly allowed?: string;
}

/** Returns the error code; undefined when the request is allowed. */
function errorCodeFor(
  guarded: Partial<GuardedRequest>,
  { host, allowed }: Listening = {},
): string | undefined {
  const env = { SERVICE_API_HOST: host, SERVICE_ALLOWED_HOSTS: allowed };
  try {
    new BrowserGuard(readServerConfig(env)).check({
      method: 'GET',
      host: 'localhost',
      origin: '',
      fetchSite: '',
      ...guarded,
    });
    return undefined;
  } catch (error) {
    if (error instanceof WavetrainError) return error.code;
    throw error;
  }
}

const ON_ALL = { host: '0.0.0.0' };
const LISTED = { host: '0.0.0.0', allowed: 'api.example, Other.Example:8443, [fd00::1], fd00::2' };

describe('BrowserGuard and the Host header (D38)', () => {
  const TAKEN: [host: string, listening?: Listening][] = [
    ['localhost'],
    ['localhost:8000'],
    ['LOCALHOST.:8000'],
    ['127.0.0.1'],
    ['127.5.5.5:1'],
    ['[::1]'],
    ['[::1]:8000'],
    ['[0:0:0:0:0:0:0:1]:8000'],
    ['[::ffff:127.0.0.1]'],
    ['localhost', ON_ALL],
    ['10.1.2.3:8000', ON_ALL],
    ['[2001:db8::1]:8000', ON_ALL],
    ['10.1.2.3', { host: '::' }],
    ['10.1.2.3:8000', { host: '10.1.2.3' }],
    ['[2001:DB8:0::1]', { host: '2001:db8::1' }],
    ['server.lan:8000', { host: 'Server.lan' }],
    ['api.example', LISTED],
    ['API.example.:9999', LISTED],
    ['other.example:8443', LISTED],
    ['[fd00:0::1]:8000', LISTED],
    ['[fd00::2]', LISTED],
    ['anything.example', { allowed: '*' }],
  ];
  for (const [host, listening] of TAKEN) {
    it(`allows "${host}"${describeServer(listening)}`, () =>
      expect(errorCodeFor({ host }, listening)).to.equal(undefined));
  }

  const REFUSED: [host: string, listening?: Listening][] = [
    [''],
    [' '],
    ['evil.example'],
    ['evil.example:8000'],
    ['localhost.evil.example'],
    ['127.0.0.1.evil.example'],
    ['localhost@evil.example'],
    ['evil.example#localhost'],
    ['evil.example/localhost'],
    ['localhost:8000:8000'],
    ['localhost:port'],
    ['localhost:99999'],
    ['localhost, evil.example'],
    ['local%68ost'],
    ['::1'],
    ['[::1'],
    ['[localhost]'],
    ['10.1.2.3'],
    ['[2001:db8::1]'],
    ['evil.example', ON_ALL],
    ['10.1.2.3.evil.example', ON_ALL],
    ['evil.example', LISTED],
    ['sub.api.example', LISTED],
    ['api.example.evil.example', LISTED],
    ['other.example', LISTED],
    ['other.example:8444', LISTED],
    ['10.9.9.9', { host: '10.1.2.3' }],
    ['', { allowed: '*' }],
  ];
  for (const [host, listening] of REFUSED) {
    it(`rejects "${host}"${describeServer(listening)}`, () =>
      expect(errorCodeFor({ host }, listening)).to.equal('foreign_host'));
  }

  it('checks every request', () => {
    const guard = new BrowserGuard(readServerConfig({}));
    const guarded = (host: string) => () => guard.check({ method: 'GET', host, origin: '', fetchSite: '' });
    for (const host of ['localhost', 'localhost:1', 'localhost']) expect(guarded(host)).not.to.throw();
    expect(guarded('evil.example')).to.throw('evil.example');
    expect(guarded('evil.example')).to.throw('evil.example');
    expect(guarded('localhost')).not.to.throw();
  });
});

describe('BrowserGuard and other origins (D38)', () => {
  const TAKEN: Partial<GuardedRequest>[] = [
    { method: 'POST' },
    { method: 'POST', host: 'localhost:8000', origin: 'http://localhost:8000' },
    { method: 'DELETE', host: 'LOCALHOST:8000', origin: 'http://localhost:8000' },
    { method: 'POST', host: 'localhost', origin: 'https://localhost', fetchSite: 'same-origin' },
    { method: 'POST', host: 'localhost:443', origin: 'https://localhost' },
    { method: 'POST', host: 'localhost:80', origin: 'http://localhost' },
    { method: 'POST', host: '[::1]:8000', origin: 'http://[::1]:8000' },
    { method: 'POST', fetchSite: 'none' },
    { method: 'GET', origin: 'https://evil.example', fetchSite: 'cross-site' },
    { method: 'HEAD', origin: 'null', fetchSite: 'cross-site' },
    { method: 'OPTIONS', origin: 'https://evil.example' },
  ];
  for (const guarded of TAKEN) {
    it(`allows ${JSON.stringify(guarded)}`, () => expect(errorCodeFor(guarded)).to.equal(undefined));
  }

  const REFUSED: Partial<GuardedRequest>[] = [
    { method: 'POST', origin: 'https://evil.example' },
    { method: 'DELETE', origin: 'https://evil.example' },
    { method: 'PUT', origin: 'https://evil.example' },
    { method: 'POST', origin: 'null' },
    { method: 'POST', origin: 'file://' },
    { method: 'POST', origin: 'http://' },
    { method: 'POST', host: 'localhost:8000', origin: 'http://localhost:3000' },
    { method: 'POST', host: 'localhost:8000', origin: 'http://localhost' },
    { method: 'POST', host: 'localhost:8000', origin: 'http://127.0.0.1:8000' },
    { method: 'POST', host: 'localhost', origin: 'http://localhost.evil.example' },
    { method: 'POST', host: 'localhost', origin: 'http://localhost http://evil.example' },
    { method: 'POST', host: 'localhost', origin: 'chrome-extension://localhost' },
    { method: 'POST', fetchSite: 'cross-site' },
    { method: 'POST', origin: 'http://localhost', fetchSite: 'cross-site' },
  ];
  for (const guarded of REFUSED) {
    it(`rejects ${JSON.stringify(guarded)}`, () => expect(errorCodeFor(guarded)).to.equal('foreign_origin'));
  }
});

describe('A server with its BrowserGuard (D38)', () => {
  const server = suiteServer();

  function sendRequest(
    method: string,
    path: string,
    headers: Record<string, string>,
  ): Promise<[number | undefined, string]> {
    return new Promise((resolve, reject) => {
      const guarded = request(server.url + path, { method, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve([response.statusCode, text]));
      });
      guarded.on('error', reject).end();
    });
  }

  it('responds to a foreign host with 403 on every path', async () => {
    for (const path of ['/health', '/docs', '/nowhere']) {
      const [status, text] = await sendRequest('GET', path, { Host: 'evil.example' });
      expect(status).to.equal(403);
      expect(JSON.parse(text).detail.code).to.equal('foreign_host');
    }
  });

  it('responds to a foreign origin with 403 before it reads the body', async () => {
    const headers = { Origin: 'https://evil.example', 'Content-Type': 'text/plain' };
    const [status, text] = await sendRequest('POST', '/pipelines/run', headers);
    expect(status).to.equal(403);
    expect(JSON.parse(text).detail.code).to.equal('foreign_origin');
  });

  it('responds with 403 to another site that hides its origin', async () => {
    expect((await sendRequest('POST', '/pipelines/run', { 'Sec-Fetch-Site': 'cross-site' }))[0]).to.equal(
      403,
    );
  });

  it('sends no CORS headers', async () => {
    const { status, headers } = await server.request('GET', '/health', undefined, {
      origin: 'https://evil.example',
    });
    expect(status).to.equal(200);
    expect(headers.get('access-control-allow-origin')).to.equal(null);
    expect(headers.get('cross-origin-resource-policy')).to.equal('same-origin');
  });

  it('truncates a long host in its error message', async () => {
    const [status, text] = await sendRequest('GET', '/health', { Host: 'e'.repeat(10_000) });
    expect(status).to.equal(403);
    expect(text.length).to.be.below(1000);
  });
});

function describeServer({ host, allowed }: Listening = {}): string {
  return `${host ? `, listening on ${host}` : ''}${allowed ? `, with ${allowed}` : ''}`;
}
