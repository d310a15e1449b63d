import { expect } from 'chai';
import { PageFiles } from '../../../lib/http/routes/pages/page-files.js';
import { docsRoutes } from '../../../lib/http/routes/pages/docs.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { suiteServer } from '../support/suite-server.js';

describe('The documentation page (D39)', () => {
  const server = suiteServer();
  let html: string;
  let headers: Headers;

  before(async () => {
    ({ body: html, headers } = await server.request<string>('GET', '/docs', undefined, {
      accept: 'text/html',
    }));
  });

  it('loads nothing from other hosts', () => {
    expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(html).to.include('<title>Wavetrain API</title>');
    const addresses = [...html.matchAll(/(?:href|src|url)"?[=:]\s*"([^"]+)"/g)].map(
      ([, address = '']) => address,
    );
    expect(addresses).to.include('/openapi.json');
    expect(addresses.filter((address) => !/^\/\w/.test(address))).to.deep.equal([]);
    expect(html.replaceAll(/http:\/\/www\.w3\.org\/\S+/g, '')).to.not.match(/https?:\/\//);
  });

  it('allows only its own inline scripts by Content-Security-Policy (D38)', async () => {
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).to.match(/script-src 'self' 'sha256-[\w+/]{43}='(;|$)/);
    expect(policy).to.include("default-src 'none'");
    expect(policy.match(/'unsafe-[\w-]+'/g)).to.deep.equal(["'unsafe-inline'"]);
    expect(policy).to.include("style-src 'self' 'unsafe-inline'");
    const elsewhere = await server.request('GET', '/openapi.json');
    expect(elsewhere.headers.get('content-security-policy')).to.not.include('unsafe');
  });

  it('is revalidated, and sent only when it has changed', async () => {
    expect(headers.get('cache-control')).to.equal('no-cache');
    const ifNoneMatch = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await server.request('GET', '/docs', undefined, ifNoneMatch)).status).to.equal(304);
  });

  it('serves all its assets as immutable', async () => {
    const files = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).to.have.length(4);
    for (const file of files) {
      const response = await server.request<string>('GET', file);
      expect(response.status, file).to.equal(200);
      expect(response.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(response.headers.get('content-type')).to.match(
        /^(?:text\/(?:css|javascript); charset=utf-8|image\/png)$/,
      );
      expect(Number(response.headers.get('content-length'))).to.be.above(500);
    }
  });

  it('serves no other files, and none of another version', async () => {
    const version = await new PageFiles('swagger-ui').version();
    for (const file of [
      `${version}/LICENSE`,
      `${version}/..%2F..%2Fpackage.json`,
      `${version}/%2e%2e%2findex.js`,
      `${version}/constructor`,
      '1.0.0/swagger-ui.css',
    ]) {
      const { status, body } = await server.request('GET', `/docs-assets/${file}`);
      expect(status, file).to.equal(404);
      expect(body, file).to.have.nested.property('detail.code', 'not_found');
    }
  });

  it('explains how to build Swagger UI when it is missing', async () => {
    const folder = new TemporaryFolder();
    try {
      const routes = docsRoutes(folder.path);
      const page = routes.find(({ path }) => path === '/docs');
      const routeRequest = { headers: {} } as Parameters<(typeof routes)[number]['handle']>[0];
      const error = await catchRejection((async () => page?.handle(routeRequest))());
      expect(error).to.include({ code: 'not_found' });
      expect(String(error)).to.include('npm run build');
    } finally {
      folder.remove();
    }
  });
});
