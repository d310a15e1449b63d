import { expect } from 'chai';
import { WavetrainClient } from '../../../../lib/client/index.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { createApiKey } from '../../../support/http/api-key.js';

const fail = defineTool({
  name: 'own_fail',
  description: 'fails',
  inputs: {},
  openInputs: true,
  run: () => {
    throw new Error('no luck', { cause: new Error('the disk is full') });
  },
});

const PIPELINE = {
  id: 'reported',
  goal: 'fail',
  tasks: [
    { id: 'first', tool: 'mock', inputs: { text: 'x'.repeat(5000) } },
    { id: 'second', tool: 'own_fail', inputs: { length: '{{first.output}}' } },
  ],
};

describe('GET /pipelines/runs/{run_id}/report (D59)', () => {
  let server: TestServer;
  let runId: string;

  before(async () => {
    const keys = [
      createApiKey('runner'),
      createApiKey('reader', ['default'], ['read']),
      createApiKey('starter', ['default'], ['run']),
      createApiKey('other', ['other'], ['read']),
    ];
    server = await startTestServer({ tools: [fail], keys, env: { SERVICE_MEMORY: '16' } });
    const client = new WavetrainClient({ url: server.url, key: 'runner', retries: 0 });
    runId = (await client.submit({ pipeline: PIPELINE })).run_id;
    await client.settled(runId);
  });
  after(() => server.close(0));

  const get = (key: string, init: RequestInit = {}, id = runId): Promise<Response> =>
    fetch(`${server.url}/pipelines/runs/${id}/report`, { ...init, headers: { 'x-api-key': key } });

  it('is a file of the name of the run, in which a browser runs and loads nothing', async () => {
    const { status, headers } = await get('reader');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(headers.get('content-disposition')).to.equal(`attachment; filename="${runId}.html"`);
    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).to.have.members([
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      "frame-ancestors 'none'",
      'sandbox',
    ]);
  });

  it('says why the run failed, and is what the client downloads', async () => {
    const text = await (await get('runner')).text();
    expect(text).to.contain('<title>reported: failed</title>').and.to.contain('the disk is full');
    expect(text.trimEnd().endsWith('</html>')).to.equal(true);
    const client = new WavetrainClient({ url: server.url, key: 'runner', retries: 0 });
    expect(await (await client.report(runId)).text()).to.contain('<title>reported: failed</title>');
  });

  it('draws which task reads which', async () => {
    expect(await (await get('reader')).text()).to.contain('<title>second reads first</title>');
  });

  it('needs the scope read, and shows nothing to keys of other tenants (D37)', async () => {
    expect((await get('starter')).status).to.equal(403);
    expect((await get('other')).status).to.equal(404);
    expect((await get('reader', {}, 'none')).status).to.equal(404);
  });

  it('has the stack of an own tool only for callers that may run it', async () => {
    expect(await (await get('runner')).text()).to.contain('report.spec.ts');
    expect(await (await get('reader')).text()).not.to.contain('report.spec.ts');
  });

  it('answers HEAD without reading the run', async () => {
    const response = await get('reader', { method: 'HEAD' });
    expect([response.status, await response.text()]).to.deep.equal([200, '']);
  });

  it('counts in the memory of the server while it is made and sent: many at once are whole, or get memory_full (D25)', async () => {
    const texts = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const response = await get('reader');
        return { status: response.status, text: await response.text() };
      }),
    );
    for (const { status, text } of texts) {
      if (status === 200) expect(text.trimEnd().endsWith('</html>')).to.equal(true);
      else expect(text).to.contain('memory_full');
    }
    expect(texts.filter(({ status }) => status === 200)).not.to.have.length(0);
    expect((await get('reader')).status, 'the memory was given back').to.equal(200);
  });
});
