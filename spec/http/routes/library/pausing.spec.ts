import { expect } from 'chai';
import { mkdirSync, readFileSync } from 'node:fs';
import type { ApiKey } from '../../../../lib/http/auth/authenticate.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { NamedPipeline } from '../../../../lib/library/named-pipeline.js';
import { startTestServer, type TestResponse, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { createApiKey } from '../../../support/http/api-key.js';

const TEXT = `# Every day.
pipeline:
  id: daily
  goal: g
  schedule: "@daily" # at midnight
  tasks: [{id: a, tool: mock}]
`;
const PAUSED = TEXT.replace('  schedule', '  paused: true\n  schedule');

describe('POST /pipelines/{id}/pause and /resume (D72)', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  beforeEach(() => {
    folder = new TemporaryFolder();
    mkdirSync(folder.at('pipelines'));
  });
  afterEach(async () => {
    await server.close(0);
    folder.remove();
  });
  const start = async (isWritable: boolean, keys?: readonly ApiKey[]): Promise<void> => {
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines'), SERVICE_PIPELINES_WRITABLE: String(isWritable) },
      ...(keys && { keys }),
    });
    await server.restored;
  };
  const write = (file: string): string => folder.write(`pipelines/${file}`, TEXT);
  const post = (
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestResponse<Record<string, unknown>>> =>
    server.request('POST', `/pipelines/${path}`, body, headers);
  const codeOf = ({ body }: TestResponse<unknown>): string => (body as ErrorBody).detail.code;

  it('change one line of the file, which counts at once, and say its new version', async () => {
    const file = write('daily.yaml');
    await start(true);
    const paused = await post('daily/pause');
    expect(paused.status).to.equal(200);
    expect(paused.body).to.include({ file: 'daily.yaml', ok: true });
    expect(paused.headers.get('etag')).to.equal(`"${String(paused.body['version'])}"`);
    expect(readFileSync(file, 'utf8')).to.equal(PAUSED);
    const shown = await server.request<NamedPipeline>('GET', '/pipelines/daily');
    expect(shown.body.schedule).to.deep.include({ paused: true, next_runs: [] });
    expect((await post('daily/run')).status).to.equal(200);
    expect((await post('daily/resume', {})).status).to.equal(200);
    expect(readFileSync(file, 'utf8')).to.equal(PAUSED.replace('paused: true', 'paused: false'));
  });

  it('are refused where the folder is only read, and not found without one or for an unknown id', async () => {
    write('daily.yaml');
    await start(false);
    expect(codeOf(await post('daily/pause'))).to.equal('forbidden');
    const { body } = await server.request<object>('GET', '/pipelines');
    expect(body).to.include({ writable: false, pausable: false });
    await server.close(0);
    await start(true);
    expect(codeOf(await post('none/pause'))).to.equal('pipeline_not_found');
    await server.close(0);
    server = await startTestServer();
    expect(codeOf(await post('daily/pause'))).to.equal('pipeline_not_found');
  });

  it('need the scopes edit and run, and find nothing of another tenant', async () => {
    const file = write('tenants/acme/daily.yaml');
    await start(true, [
      createApiKey('both', ['acme'], ['read', 'edit', 'run']),
      createApiKey('editor', ['acme'], ['read', 'edit']),
      createApiKey('runner', ['acme'], ['read', 'run']),
      createApiKey('beta', ['beta'], ['read', 'edit', 'run']),
    ]);
    const pause = (name: string, body?: unknown): Promise<TestResponse<unknown>> =>
      post('daily/pause', body, { 'x-api-key': name });
    const pausable = async (name: string): Promise<unknown> => {
      const { body } = await server.request('GET', '/pipelines', undefined, {
        'x-api-key': name,
      });
      return body['pausable'];
    };
    for (const name of ['editor', 'runner']) {
      expect(codeOf(await pause(name)), name).to.equal('forbidden');
      expect(await pausable(name), name).to.equal(false);
    }
    expect(codeOf(await pause('beta'))).to.equal('pipeline_not_found');
    expect(codeOf(await pause('beta', { tenant_id: 'acme' }))).to.equal('pipeline_not_found');
    expect(readFileSync(file, 'utf8')).to.equal(TEXT);
    expect((await pause('both')).status).to.equal(200);
    expect(await pausable('both')).to.equal(true);
    expect(readFileSync(file, 'utf8')).to.equal(PAUSED);
  });

  it('are refused for a page of another site', async () => {
    write('daily.yaml');
    await start(true);
    expect(codeOf(await post('daily/pause', undefined, { origin: 'http://evil.example' }))).to.equal(
      'foreign_origin',
    );
  });
});
