import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, relative, sep } from 'node:path';
import { defineTool } from '../../lib/tools/tool.js';
import { settle } from '../support/deferred.js';
import { startTestServer, type TestServer } from '../support/http/test-server.js';

const bytes = defineTool({
  name: 'bytes',
  description: 'returns bytes',
  inputs: {},
  run: () => Buffer.from('hello'),
});

const RUN = { pipeline: { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'bytes' }] } };

interface Result {
  readonly outputs: { readonly t: { readonly path: string } };
}

describe('Files of runs of a server (D24, D26)', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer({ tools: [bytes] });
  });
  afterEach(() => server.close(0));

  it('are where the documents say, in a folder of their run in the folder for temporary files', async () => {
    const { headers, body } = await server.request<Result>('POST', '/pipelines/run', RUN);
    const [folder, runId, name] = relative(tmpdir(), body.outputs.t.path).split(sep);
    expect(folder).to.match(/^wavetrain-[0-9a-f-]{36}$/);
    expect([runId, name]).to.deep.equal([headers.get('wavetrain-run-id'), 't-1.bin']);
  });

  it('stay with a synchronous run, which is kept for them, until it is deleted or the server closes', async () => {
    const run = async (): Promise<{ runId: string; path: string }> => {
      const { status, headers, body } = await server.request<Result>('POST', '/pipelines/run', RUN);
      expect(status).to.equal(200);
      await settle();
      return { runId: headers.get('wavetrain-run-id') ?? '', path: body.outputs.t.path };
    };
    const [first, second] = [await run(), await run()];
    expect(readFileSync(first.path, 'utf8')).to.equal('hello');
    const { status } = await server.request('DELETE', `/pipelines/runs/${first.runId}`);
    expect(status).to.equal(204);
    await server.close(0);
    for (const { path } of [first, second]) expect(existsSync(dirname(dirname(path)))).to.equal(false);
  });
});
