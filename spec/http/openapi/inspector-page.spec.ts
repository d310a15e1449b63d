import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { inspectorRoutes } from '../../../lib/http/routes/pages/web-apps.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const MOST_BYTES = 60_000;

describe('The page of the inspector (D42)', () => {
  const folder = join(ROOT, 'dist', 'web');
  let server: TestServer;
  let html: string;
  let files: string[];

  before(async () => {
    requireBuild();
    // Keys guard the runs; everybody may load the page that asks for one.
    server = await startTestServer({ keys: [] });
    html = (await server.request<string>('GET', '/inspect/r1')).body;
    files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  });

  after(() => server.close(0));

  it('is served without a key for each run, and may run only its own files', async () => {
    for (const path of ['/inspect/019b7600-0000-7000-8000-000000000000', '/inspect/%3Cb%3E']) {
      const { status, headers, body } = await server.request('GET', path);
      expect(status, path).to.equal(200);
      expect(body, path).to.equal(html);
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(headers.get('content-security-policy')).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
    }
  });

  it('leads to the list of runs, which the console shows, without the id of a run', async () => {
    for (const path of ['/inspect', '/inspect/', '/runs', '/runs/']) {
      const { status, headers } = await fetch(server.url + path, { redirect: 'manual' });
      expect(status, path).to.equal(302);
      expect(headers.get('location'), path).to.equal('/');
    }
  });

  it('leads to the list of runs with its filters, and to no other host', async () => {
    for (const [path, location] of [
      ['/runs?status=failed&text=a%26b%20c', '/?status=failed&text=a%26b+c'],
      ['/runs/?tag=1&tag=2', '/?tag=1&tag=2'],
      ['/runs/?//example.com', '/?%2F%2Fexample.com='],
    ]) {
      const { status, headers } = await fetch(server.url + path, { redirect: 'manual' });
      expect([status, headers.get('location')], path).to.deep.equal([302, location]);
    }
  });

  it('has no inline script or style, and names no other host', () => {
    expect(html).to.not.match(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|https?:/);
    expect(files).to.have.length(3);
    for (const path of files) expect(path).to.match(/^\/inspect\/assets\/[0-9a-f]{16}\/[a-z.]+$/);
  });

  it('serves its files for ever, and nothing else', async () => {
    for (const path of files) {
      const { status, headers } = await server.request('GET', path);
      expect(status, path).to.equal(200);
      expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    }
    const [version = ''] = /[0-9a-f]{16}/.exec(html) ?? [];
    for (const file of [`${version}/VERSION`, `${version}/..%2F..%2Fpackage.json`, '0/inspect.js']) {
      expect((await server.request('GET', `/inspect/assets/${file}`)).status, file).to.equal(404);
    }
  });

  it(`loads less than ${MOST_BYTES} bytes in all, compressed`, () => {
    const sizes = readdirSync(folder).map((file) => gzipSync(readFileSync(join(folder, file))).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.below(MOST_BYTES);
  });

  it('answers a repeated request with 304', async () => {
    const { headers } = await server.request('GET', '/inspect/r1');
    const etag = headers.get('etag') ?? '';
    expect(
      (await server.request('GET', '/inspect/r1', undefined, { 'if-none-match': etag })).status,
    ).to.equal(304);
  });

  it('explains how to build it when it is missing', async () => {
    const empty = new TemporaryFolder();
    try {
      const page = inspectorRoutes(empty.path).find(({ path }) => path === '/inspect/{run_id}');
      const request = { headers: {} } as Parameters<NonNullable<typeof page>['handle']>[0];
      const error = await catchRejection((async () => page?.handle(request))());
      expect(error).to.include({ code: 'not_found' });
      expect(String(error)).to.include('npm run build');
    } finally {
      empty.remove();
    }
  });
});
