import { expect } from 'chai';
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WavetrainClient } from '../../../lib/client/index.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { createApiKey } from '../../support/http/api-key.js';
import { suiteServer } from '../support/suite-server.js';

const SIZE = 300_000;

const write = defineTool({
  name: 'write',
  description: 'writes a file',
  inputs: { filename: { type: 'string', default: 'page.html', description: 'the name' } },
  async run({ filename }, { artifacts }) {
    const bytes = filename === 'page.html' ? '<script>alert(1)</script>' : Buffer.alloc(SIZE, 'ab');
    return await artifacts.write({ name: filename, bytes, media_type: 'text/html' });
  },
});

const LARGE = 'Jahr 2025 – é.bin';

const PIPELINE = {
  id: 'p',
  goal: 'g',
  tasks: [
    { id: 'page', tool: 'write' },
    { id: 'large', tool: 'write', inputs: { filename: LARGE } },
  ],
};

describe('GET /pipelines/runs/{run_id}/artifacts (D63)', () => {
  const temporary = new TemporaryFolder();
  const server = suiteServer({
    env: { SERVICE_ARTIFACTS: temporary.path },
    tools: [write],
    keys: [createApiKey('runner'), createApiKey('other', ['other'])],
  });
  let client: WavetrainClient;
  let runId: string;

  before(async () => {
    client = new WavetrainClient({ url: server.url, key: 'runner', retries: 0 });
    runId = (await client.submit({ pipeline: PIPELINE })).run_id;
    await client.settled(runId);
  });
  after(async () => {
    expect(readdirSync(temporary.path)).to.deep.equal([]);
    temporary.remove();
  });

  const get = (path: string, key = 'runner', method = 'GET') =>
    fetch(`${server.url}/pipelines/runs/${runId}/artifacts${path}`, {
      method,
      headers: { 'x-api-key': key },
    });

  it('lists the files of a run by name, in pages, and in its record', async () => {
    const artifacts = [
      { name: LARGE, task_id: 'large', media_type: 'text/html', size: SIZE },
      { name: 'page.html', task_id: 'page', media_type: 'text/html', size: 25 },
    ];
    expect(await client.artifacts(runId)).to.deep.equal({ artifacts, total: 2, next_cursor: null });
    const first = await client.artifacts(runId, { limit: 1 });
    expect(first).to.deep.equal({ artifacts: artifacts.slice(0, 1), total: 2, next_cursor: LARGE });
    const next = await client.artifacts(runId, { limit: 1, cursor: LARGE });
    expect(next).to.deep.equal({ artifacts: artifacts.slice(1), total: 2, next_cursor: null });
    expect(await client.record(runId)).to.deep.include({ artifacts, artifact_count: 2 });
  });

  it('downloads a file, whole and in its folder of SERVICE_ARTIFACTS', async () => {
    const response = await client.artifact(runId, LARGE);
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.alloc(SIZE, 'ab'))).to.equal(true);
    expect(response.headers.get('content-length')).to.equal(String(SIZE));
    expect(readdirSync(temporary.path)).to.have.length(1);
  });

  it('keeps what a tool has written from acting in a browser as a page of the server', async () => {
    const { status, headers } = await get('/page.html');
    expect(status).to.equal(200);
    expect(Object.fromEntries(headers)).to.deep.include({
      'content-type': 'text/html',
      'content-disposition': `attachment; filename="page.html"; filename*=UTF-8''page.html`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const { headers: others } = await get(`/${encodeURIComponent(LARGE)}`);
    expect(others.get('content-disposition')).to.equal(
      `attachment; filename="Jahr 2025 _ _.bin"; filename*=UTF-8''Jahr%202025%20%E2%80%93%20%C3%A9.bin`,
    );
  });

  it('sends only the head to HEAD, and any media type that a client accepts', async () => {
    const { status, headers } = await get('/page.html', 'runner', 'HEAD');
    expect([status, headers.get('content-length')]).to.deep.equal([200, '25']);
  });

  it('refuses other names, paths, and tenants', async () => {
    const statusOf = async (path: string, key?: string): Promise<string> => {
      const response = await get(path, key);
      const { detail } = (await response.json()) as { detail: { code: string } };
      return `${response.status} ${detail.code}`;
    };
    for (const name of ['/nothing', '/..%2fpage.html', '/%2e%2e%2f%2e%2e%2fetc%2fpasswd', '/PAGE.html']) {
      expect(await statusOf(name), name).to.equal('404 artifact_not_found');
    }
    expect(await statusOf('/page.html', 'other')).to.equal('404 run_not_found');
    expect(await statusOf('', 'other')).to.equal('404 run_not_found');
    expect(await statusOf('?limit=0')).to.equal('400 invalid_request');
  });

  it('sends no file of others through a link in place of the file or of the folder of its run', async () => {
    const elsewhere = new TemporaryFolder();
    writeFileSync(join(elsewhere.path, 'page.html'), 'secret');
    const [own = ''] = readdirSync(temporary.path);
    for (const replace of [
      (folder: string) => {
        rmSync(join(folder, 'page.html'));
        symlinkSync(join(elsewhere.path, 'page.html'), join(folder, 'page.html'));
      },
      (folder: string) => {
        rmSync(folder, { recursive: true });
        symlinkSync(elsewhere.path, folder);
      },
    ]) {
      const { run_id: other } = await client.submit({ pipeline: PIPELINE });
      await client.settled(other);
      replace(join(temporary.path, own, other));
      const thrown: unknown = await client.artifact(other, 'page.html').catch((error: unknown) => error);
      expect(thrown).to.include({ code: 'artifact_not_found' });
      expect((thrown as Error).message).to.contain('it cannot be read');
    }
    expect(readdirSync(elsewhere.path)).to.deep.equal(['page.html']);
    elsewhere.remove();
  });

  it('has no files of a run that was deleted', async () => {
    const { run_id: other } = await client.submit({ pipeline: PIPELINE });
    await client.settled(other);
    await client.remove(other);
    const thrown: unknown = await client.artifact(other, 'page.html').catch((error: unknown) => error);
    expect(thrown).to.include({ code: 'run_not_found' });
  });
});
