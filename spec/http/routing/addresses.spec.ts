import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { suiteServer } from '../support/suite-server.js';

const NOBODY = '019a7c3e-5b1d-7c44-9e0f-3d2a1b4c5d6e';

describe('HTTP paths and methods (D32)', () => {
  const server = suiteServer();

  const code = async (method: string, path: string): Promise<string> => {
    const { status, body } = await server.request<ErrorBody>(method, path);
    return `${status} ${body.detail.code}`;
  };

  it('serves /health and /ready', async () => {
    expect((await server.request('GET', '/health')).body).to.deep.equal({ status: 'ok' });
    const ready = await server.request('GET', '/ready');
    expect(ready.status).to.equal(200);
    expect(ready.body).to.deep.equal({ ready: true, queued: 0, running: 0, version: '0.0.0-spec' });
  });

  it('responds 404 to an unknown path', async () => {
    for (const path of [
      '/nothing',
      '/plans',
      '/plans/',
      '/health/x',
      '//health',
      '/HEALTH/x',
      '/%00',
      '/%E0%A4%A',
    ]) {
      expect(await code('GET', path), path).to.equal('404 not_found');
    }
  });

  describe('shows a page with links to a person who opens a wrong address in a browser', () => {
    const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

    it('of any path, with status 404', async () => {
      for (const path of [
        '/nothing',
        '/inspect/a/b',
        '/docs/other',
        '/runs/a/b',
        `/pipelines/runs/${NOBODY}`,
      ]) {
        const response = await fetch(`${server.url}${path}`, { headers: BROWSER });
        const text = await response.text();
        expect([response.status, response.headers.get('content-type')], path).to.deep.equal([
          404,
          'text/html; charset=utf-8',
        ]);
        for (const link of ['/', '/library', '/docs']) expect(text).to.include(`<a href="${link}">`);
        expect(response.headers.get('content-security-policy')).to.include("script-src 'none'");
        expect(response.headers.get('vary')).to.include('Accept');
      }
    });

    it('with nothing of the address but escaped text, and not all of a long one', async () => {
      const path = `/x'"&<script>alert(1)</script>${'y'.repeat(2000)}`;
      const text = await (await fetch(server.url + encodeURI(path), { headers: BROWSER })).text();
      expect(text).not.to.include('<script');
      expect(text.length).to.be.below(2500);
    });

    it('but JSON to programs, and to whoever sends something', async () => {
      for (const accept of ['*/*', 'application/json', 'application/json, text/html'])
        expect(
          (await fetch(`${server.url}/nothing`, { headers: { accept } })).headers.get('content-type'),
        ).to.include('application/json');
      const posted = await fetch(`${server.url}/nothing`, { method: 'POST', headers: BROWSER });
      expect(await posted.json()).to.have.nested.property('detail.code', 'not_found');
    });
  });

  it('leads from /plans/runs to where the runs of plans are', async () => {
    const { status, body } = await server.request<ErrorBody>('POST', '/plans/runs/1/cancel');
    expect(status).to.equal(404);
    expect(JSON.stringify(body)).to.contain('runs of plans are under /pipelines/runs');
  });

  it('responds 405 with an Allow header to a method that the path does not accept', async () => {
    const wrong: [string, string, string][] = [
      ['POST', '/health', 'GET, HEAD'],
      ['GET', '/pipelines/run', 'POST'],
      ['PUT', '/pipelines/run_async', 'POST'],
      ['PATCH', `/pipelines/runs/${NOBODY}`, 'GET, HEAD, DELETE'],
      ['OPTIONS', `/pipelines/runs/${NOBODY}`, 'GET, HEAD, DELETE'],
      ['OPTIONS', '/pipelines/run', 'POST'],
      ['PATCH', '/pipelines/runs', 'GET, HEAD, DELETE'],
      ['GET', `/pipelines/runs/${NOBODY}/cancel`, 'POST'],
    ];
    for (const [method, path, allow] of wrong) {
      const { status, body, headers } = await server.request<ErrorBody>(method, path);
      expect(`${status} ${body.detail.code}`, `${method} ${path}`).to.equal('405 method_not_allowed');
      expect(headers.get('allow')).to.equal(allow);
    }
  });

  it('responds to HEAD like GET, without the body', async () => {
    for (const path of ['/health', '/pipelines/tools', '/pipelines/runs', '/openapi.json']) {
      const head = await server.request('HEAD', path);
      const get = await server.request('GET', path);
      expect(head.status, path).to.equal(200);
      expect(head.body).to.equal(undefined);
      expect(head.headers.get('content-length')).to.equal(get.headers.get('content-length'));
    }
    expect((await server.request('HEAD', '/nothing')).status).to.equal(404);
  });

  it('ignores a trailing slash', async () => {
    for (const path of ['/health/', '/pipelines/runs/', '/pipelines/tools/']) {
      expect((await server.request('GET', path)).status, path).to.equal(200);
    }
    expect(await code('POST', '/health/')).to.equal('405 method_not_allowed');
  });

  it('decodes percent-encoded run ids, and never treats them as paths', async () => {
    const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
    const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', { pipeline });
    const encoded = body.run_id.replaceAll('-', '%2D');
    expect((await server.request('GET', `/pipelines/runs/${encoded}?wait=10`)).status).to.equal(200);
    for (const id of [
      '%2E%2E%2Fhealth',
      'a%2Fb',
      '%00',
      'constructor',
      '__proto__',
      '%F0%9F%98%80',
      body.run_id.toUpperCase(),
    ]) {
      expect(await code('GET', `/pipelines/runs/${id}`), id).to.equal('404 run_not_found');
    }
  });

  it('refuses undeclared query parameters', async () => {
    expect(await code('GET', '/pipelines/tools?verbose=1')).to.equal('400 invalid_request');
    expect(await code('POST', '/pipelines/run?wait=1')).to.equal('400 invalid_request');
  });

  it('serves probes with any query and any Accept header', async () => {
    for (const path of ['/health?ts=1', '/ready?from=balancer']) {
      const { status } = await server.request('GET', path, undefined, { accept: 'text/html' });
      expect(status, path).to.equal(200);
    }
  });
});
