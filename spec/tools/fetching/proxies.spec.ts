import { expect } from 'chai';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { readOutbound } from '../../../lib/common/config/outbound-config.js';
import { createBoundedFetch } from '../../../lib/common/requests/bounded-fetch.js';
import { ByteMeter } from '../../../lib/common/requests/meter.js';
import { createNodeAgent } from '../../../lib/common/requests/node-agent.js';
import { createModelFetch } from '../../../lib/models/providers/model-fetch.js';
import { networkAccess, type NetworkOptions } from '../../../lib/tools/fetching/network.js';
import { assertStatus } from '../../../lib/tools/fetching/status.js';
import { TenantRoutes } from '../../../lib/tools/fetching/tenant-routes.js';
import type { FetchOptions } from '../../../lib/tools/tool.js';
import { catchRejection } from '../../support/rejection.js';
import { ManualClock } from '../../support/manual-clock.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { fetchCaller, LoopbackServer } from './loopback-server.js';
import { type Pair, TestAuthority } from './test-authority.js';
import { TestProxy } from './test-proxy.js';

const unknownName = async (): Promise<never> => {
  throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
};

describe('Requests by a proxy (HTTP_PROXY, HTTPS_PROXY, D51)', () => {
  let server: LoopbackServer;
  let proxy: TestProxy;
  beforeEach(async () => {
    server = await LoopbackServer.start();
    proxy = await TestProxy.start();
  });
  afterEach(async () => {
    await proxy.close();
    await server.close();
  });

  const outbound = (more: Record<string, string> = {}) =>
    readOutbound({ HTTP_PROXY: `http://${proxy.host}`, HTTPS_PROXY: proxy.host, ...more });
  const get = async (
    url: string,
    options: NetworkOptions = {},
    fetchOptions: FetchOptions = {},
  ): Promise<string> => {
    const network = networkAccess({
      resolve: unknownName,
      ...options,
      outbound: options.outbound ?? outbound(),
    });
    return (await network.fetch(url, fetchOptions, fetchCaller())).bytes.toString();
  };

  it('of tools ask the proxy for the whole URL, and the proxy looks the name up', async () => {
    server.handler = ({ headers, url }, response) => response.end(`${headers.host} ${url}`);
    const host = `shop.example:${server.port}`;
    expect(await get(`http://${host}/a?b=c`)).to.equal(`${host} /a?b=c`);
    expect(proxy.asked).to.deep.equal([`GET http://${host}/a?b=c`]);
  });

  it('name the proxy that has answered, for itself or for the server, in the error of a status', async () => {
    server.handler = (_, response) => response.writeHead(403).end('keep out');
    const network = networkAccess({ resolve: unknownName, outbound: outbound() });
    const answer = await network.fetch(`http://shop.example:${server.port}/a`, {}, fetchCaller());
    expect(() => assertStatus(answer, 'GET', ['2xx'], new ManualClock())).to.throw(
      `GET http://shop.example:${server.port}/a answered 403 Forbidden by the proxy ${proxy.host} (NO_PROXY names hosts that need none): keep out`,
    );
  });

  it('send the user and the password of the proxy to it', async () => {
    const withUser = readOutbound({
      SERVICE_HTTP_PROXY: `http://ann:p%40ss@${proxy.host}`,
      HTTP_PROXY: 'http://other.example',
    });
    await get(`http://shop.example:${server.port}/`, { outbound: withUser });
    expect(proxy.headers['proxy-authorization']).to.equal(
      `Basic ${Buffer.from('ann:p@ss').toString('base64')}`,
    );
  });

  it('of tools follow redirects by the proxy, and not to private addresses', async () => {
    server.handler = ({ url }, response) => {
      if (url === '/end') response.end('there');
      else response.writeHead(302, { location: url === '/start' ? '/end' : 'http://10.2.3.4/' }).end();
    };
    const origin = `http://shop.example:${server.port}`;
    expect(await get(`${origin}/start`)).to.equal('there');
    expect(await catchRejection(get(`${origin}/private`))).to.match(
      /add 10\.2\.3\.4:80 to SERVICE_ALLOW_NETWORKS/,
    );
    expect(proxy.asked).to.have.length(3);
  });

  it('are not sent for private addresses, names that lead to them, and metadata services', async () => {
    const resolve: NetworkOptions['resolve'] = async () => [{ address: '10.2.3.4', family: 4 }];
    for (const url of [
      'http://10.2.3.4/',
      'https://[fd00::1]/',
      'http://erp.internal/',
      'https://erp.internal/',
    ])
      expect(await catchRejection(get(url, { resolve }))).to.match(
        /private or reserved address.*SERVICE_ALLOW_NETWORKS/,
      );
    for (const url of ['http://169.254.169.254/', 'http://metadata.google.internal/'])
      expect(await catchRejection(get(url, { allowPrivate: true }))).to.match(/metadata service/);
    expect(proxy.asked).to.deep.equal([]);
  });

  it('are sent without it to this machine and to hosts of NO_PROXY, with the guard of direct ones', async () => {
    const resolve: NetworkOptions['resolve'] = async () => [{ address: '127.0.0.1', family: 4 }];
    const options = { resolve, outbound: outbound({ NO_PROXY: 'corp.example,10.0.0.0/8' }) };
    const url = `http://erp.corp.example:${server.port}/`;
    expect(await catchRejection(get(url, options))).to.match(/private or reserved/);
    expect(await get(url, { ...options, allowNetworks: ['*.corp.example'] })).to.equal('ok');
    expect(await get(server.url, { ...options, allowPrivate: true })).to.equal('ok');
    expect(proxy.asked).to.deep.equal([]);
  });

  it('fail with what the proxy says, and when nothing answers there', async () => {
    proxy.refuses = 407;
    expect(await catchRejection(get('https://shop.example/'))).to.match(
      /GET https:\/\/shop\.example\/ failed: the proxy 127\.0\.0\.1:\d+ wants a user and a password/,
    );
    proxy.refuses = 403;
    expect(await catchRejection(get('https://shop.example/'))).to.match(
      /refused to connect, with status 403/,
    );
    const gone = { outbound: outbound() };
    await proxy.close();
    for (const url of ['http://shop.example/', 'https://shop.example/'])
      expect(await catchRejection(get(url, gone))).to.match(
        /the proxy 127\.0\.0\.1:\d+ cannot be used: nothing answers at its address/,
      );
    proxy = await TestProxy.start();
  });

  it('of language models and MCP servers go by the proxy, too', async () => {
    server.handler = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('from afar');
    const url = `http://models.example:${server.port}/v1`;
    const settings = outbound();
    const ask = createModelFetch(false, settings);
    expect(await (await ask(url, { method: 'POST', body: '{}' })).text()).to.equal('from afar');
    const fetch = createBoundedFetch({
      connectMs: 1000,
      outbound: settings,
      createMeter: () => new ByteMeter(1000),
      createError: (_, message) => new Error(message),
    });
    expect(await (await fetch(url, { headers: { 'x-key': 'k' } })).text()).to.equal('from afar');
    expect(proxy.headers).to.include({ 'x-key': 'k' });
    expect(proxy.asked).to.deep.equal([`POST ${url}`, `GET ${url}`]);
  });

  it('of packages that use node:http, such as traces, go by the proxy, too', async () => {
    const { request } = await import('node:http');
    const url = new URL(`http://collector.example:${server.port}/v1/traces`);
    const agent = createNodeAgent(url, outbound() ?? expect.fail());
    const status = await new Promise((resolve, reject) => {
      request(url, { method: 'POST', agent }, ({ statusCode }) => resolve(statusCode))
        .on('error', reject)
        .end('x');
    });
    agent.destroy();
    expect([status, proxy.asked]).to.deep.equal([200, [`POST ${url.href}`]]);
  });

  describe('with certificates', () => {
    const folder = new TemporaryFolder();
    let authority: TestAuthority;
    let client: Pair;
    let secure: Server;
    let url: string;

    before(async function () {
      if (TestAuthority.isMissing) {
        if (process.env['CI'] !== undefined) throw new Error('openssl is missing: apt-get install openssl');
        this.skip();
      }
      authority = new TestAuthority(folder);
      client = authority.sign('client');
      const options = {
        ...authority.sign('shop.example'),
        ca: authority.cert,
        requestCert: true,
        rejectUnauthorized: false,
      };
      secure = createServer(options, ({ socket }, response) => {
        const shown = (socket as TLSSocket).getPeerX509Certificate();
        response.end(`hello ${shown?.subject ?? 'nobody'}`);
      });
      await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
      url = `https://shop.example:${(secure.address() as AddressInfo).port}/`;
    });
    after(() => {
      secure?.closeAllConnections();
      secure?.close();
      folder.remove();
    });

    it('of an authority in SERVICE_CA_FILE are trusted in a tunnel and without one, and others are not', async () => {
      const trusting = outbound({ SERVICE_CA_FILE: authority.file });
      expect(await get(url, { outbound: trusting })).to.equal('hello nobody');
      expect(proxy.asked).to.deep.equal([`CONNECT ${new URL(url).host}`]);
      expect(await catchRejection(get(url))).to.match(
        /add that of the authority to the file of SERVICE_CA_FILE/,
      );
      const direct = readOutbound({ SERVICE_CA_FILE: authority.file });
      const resolve: NetworkOptions['resolve'] = async () => [{ address: '127.0.0.1', family: 4 }];
      expect(await get(url, { outbound: direct, resolve, allowPrivate: true })).to.equal('hello nobody');
      const { get: request } = await import('node:https');
      const agent = createNodeAgent(new URL(url), trusting ?? expect.fail());
      const status = await new Promise((done, fail) => {
        request(url, { agent }, ({ statusCode }) => done(statusCode)).on('error', fail);
      });
      agent.destroy();
      expect(status).to.equal(200);
    });

    it('of a client are shown to the server of the URL alone', async () => {
      const options = { outbound: outbound({ SERVICE_CA_FILE: authority.file }) };
      expect(await get(url, options, { clientCertificate: client })).to.equal('hello CN=client');
      expect(await get(url, options)).to.equal('hello nobody');
    });

    it('of a client that cannot be read are refused without proxies and authorities, too, and then closed', async () => {
      const routes = await new TenantRoutes({}).of('tenant');
      const own = routes.withCertificate({ cert: client.cert, key: 'wrong' });
      expect(await catchRejection(own.to(new URL(url)))).to.match(/client_certificate cannot be used: /);
      await own.close();
    });

    it('of a client that cannot be read are refused, without a part of them', async () => {
      const wrong = { cert: client.cert, key: 'geheim' };
      const error = await catchRejection(get(url, {}, { clientCertificate: wrong }));
      expect(error)
        .to.match(/client_certificate cannot be used: /)
        .and.not.match(/geheim/);
      expect(error).to.include({ retryable: false });
      expect(await catchRejection(get('http://shop.example/', {}, { clientCertificate: client }))).to.match(
        /a client certificate needs a URL with https/,
      );
    });
  });
});
