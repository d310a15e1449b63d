import { expect } from 'chai';
import { DocsAssets } from '../../../lib/http/openapi/swagger-ui.js';
import { docsRoutes } from '../../../lib/http/routes/docs.js';
import { rejectionOf } from '../../support/rejection.js';
import { serving, type Serving } from '../../support/http/serving.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('The documentation page (D39)', () => {
  let server: Serving;
  let html: string;
  let headers: Headers;

  before(async () => {
    server = await serving();
    ({ body: html, headers } = await server.ask<string>('GET', '/docs', undefined, { accept: 'text/html' }));
  });

  after(() => server.close(0));

  it('is where / leads to', async () => {
    const response = await fetch(`${server.url}/`, { redirect: 'manual' });
    expect(response.status).to.equal(302);
    expect(response.headers.get('location')).to.equal('/docs');
  });

  it('names no other host', () => {
    expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(html).to.include('<title>Wavetrain API</title>');
    const addresses = [...html.matchAll(/(?:href|src|url)"?[=:]\s*"([^"]+)"/g)].map(
      ([, address = '']) => address,
    );
    expect(addresses).to.include('/openapi.json');
    expect(addresses.filter((address) => !/^\/\w/.test(address))).to.deep.equal([]);
    expect(html.replaceAll(/http:\/\/www\.w3\.org\/\S+/g, '')).to.not.match(/https?:\/\//);
  });

  it('lets the browser run no script but those it has now (D38)', async () => {
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).to.match(/script-src 'self' 'sha256-[\w+/]{43}='(;|$)/);
    expect(policy).to.include("default-src 'none'");
    expect(policy.match(/'unsafe-[\w-]+'/g)).to.deep.equal(["'unsafe-inline'"]);
    expect(policy).to.include("style-src 'self' 'unsafe-inline'");
    const elsewhere = await server.ask('GET', '/openapi.json');
    expect(elsewhere.headers.get('content-security-policy')).to.not.include('unsafe');
  });

  it('is asked for again, and sent once', async () => {
    expect(headers.get('cache-control')).to.equal('no-cache');
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await server.ask('GET', '/docs', undefined, known)).status).to.equal(304);
  });

  it('has files that are all there, and may be kept for ever', async () => {
    const files = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).to.have.length(4);
    for (const file of files) {
      const answer = await server.ask<string>('GET', file);
      expect(answer.status, file).to.equal(200);
      expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(answer.headers.get('content-type')).to.match(
        /^(?:text\/(?:css|javascript); charset=utf-8|image\/png)$/,
      );
      expect(Number(answer.headers.get('content-length'))).to.be.above(500);
    }
  });

  it('has no other files, and none of another version', async () => {
    const version = new DocsAssets().version();
    for (const file of [
      `${version}/LICENSE`,
      `${version}/..%2F..%2Fpackage.json`,
      `${version}/%2e%2e%2findex.js`,
      `${version}/constructor`,
      '1.0.0/swagger-ui.css',
    ]) {
      const { status, body } = await server.ask('GET', `/docs-assets/${file}`);
      expect(status, file).to.equal(404);
      expect(body, file).to.have.nested.property('detail.code', 'not_found');
    }
  });

  it('says what to do when Swagger UI was not built', async () => {
    const folder = new TemporaryFolder();
    try {
      const routes = docsRoutes(new DocsAssets(folder.path));
      const page = routes.find(({ path }) => path === '/docs');
      const asked = { headers: {} } as Parameters<(typeof routes)[number]['handle']>[0];
      const error = await rejectionOf((async () => page?.handle(asked))());
      expect(error).to.include({ code: 'not_found' });
      expect(String(error)).to.include('npm run build');
    } finally {
      folder.remove();
    }
  });
});
