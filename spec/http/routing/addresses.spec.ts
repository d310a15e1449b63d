import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { serving, type Serving } from '../../support/http/serving.js';

const NOBODY = '019a7c3e-5b1d-7c44-9e0f-3d2a1b4c5d6e';

describe('Paths and methods (D32)', () => {
  let server: Serving;
  before(async () => {
    server = await serving();
  });
  after(() => server.close(0));

  const code = async (method: string, path: string): Promise<string> => {
    const { status, body } = await server.ask<ErrorBody>(method, path);
    return `${status} ${body.detail.code}`;
  };

  it('answers health and readiness', async () => {
    expect((await server.ask('GET', '/health')).body).to.deep.equal({ status: 'ok' });
    const ready = await server.ask('GET', '/ready');
    expect(ready.status).to.equal(200);
    expect(ready.body).to.deep.equal({ ready: true, queued: 0, running: 0, version: '0.0.0-spec' });
  });

  it('answers 404 where there is nothing', async () => {
    for (const path of [
      '/nothing',
      '/pipelines',
      '/pipelines/',
      '/health/x',
      '//health',
      '/HEALTH/x',
      '/%00',
      '/%E0%A4%A',
    ]) {
      expect(await code('GET', path), path).to.equal('404 not_found');
    }
  });

  it('answers 405 with Allow for a method that a path does not take', async () => {
    const wrong: [string, string, string][] = [
      ['POST', '/health', 'GET, HEAD'],
      ['GET', '/pipelines/run', 'POST'],
      ['PUT', '/pipelines/run_async', 'POST'],
      ['PATCH', `/pipelines/runs/${NOBODY}`, 'GET, HEAD, DELETE'],
      ['OPTIONS', `/pipelines/runs/${NOBODY}`, 'GET, HEAD, DELETE'],
      ['OPTIONS', '/pipelines/run', 'POST'],
      ['DELETE', '/pipelines/runs', 'GET, HEAD'],
      ['GET', `/pipelines/runs/${NOBODY}/cancel`, 'POST'],
    ];
    for (const [method, path, allow] of wrong) {
      const { status, body, headers } = await server.ask<ErrorBody>(method, path);
      expect(`${status} ${body.detail.code}`, `${method} ${path}`).to.equal('405 method_not_allowed');
      expect(headers.get('allow')).to.equal(allow);
    }
  });

  it('answers HEAD as GET, without the body', async () => {
    for (const path of ['/health', '/pipelines/tools', '/pipelines/runs', '/openapi.json']) {
      const head = await server.ask('HEAD', path);
      const get = await server.ask('GET', path);
      expect(head.status, path).to.equal(200);
      expect(head.body).to.equal(undefined);
      expect(head.headers.get('content-length')).to.equal(get.headers.get('content-length'));
    }
    expect((await server.ask('HEAD', '/nothing')).status).to.equal(404);
  });

  it('takes a slash at the end for none', async () => {
    for (const path of ['/health/', '/pipelines/runs/', '/pipelines/tools/']) {
      expect((await server.ask('GET', path)).status, path).to.equal(200);
    }
    expect(await code('POST', '/health/')).to.equal('405 method_not_allowed');
  });

  it('reads ids that are encoded, and refuses to see a path in them', async () => {
    const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
    const { body } = await server.ask<{ run_id: string }>('POST', '/pipelines/run_async', { pipeline });
    const encoded = body.run_id.replaceAll('-', '%2D');
    expect((await server.ask('GET', `/pipelines/runs/${encoded}?wait=10`)).status).to.equal(200);
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

  it('refuses query parameters that mean nothing there', async () => {
    expect(await code('GET', '/pipelines/tools?verbose=1')).to.equal('400 invalid_request');
    expect(await code('POST', '/pipelines/run?wait=1')).to.equal('400 invalid_request');
  });

  it('answers probes whatever query and Accept they send', async () => {
    for (const path of ['/health?ts=1', '/ready?from=balancer']) {
      const { status } = await server.ask('GET', path, undefined, { accept: 'text/html' });
      expect(status, path).to.equal(200);
    }
  });
});
