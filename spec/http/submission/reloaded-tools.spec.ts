import { expect } from 'chai';
import type { ReloadTarget } from '../../../lib/http/reload.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { settleUntil } from '../../support/deferred.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

const toolOf = (name: string, run: () => unknown): Tool =>
  defineTool({ name, description: 'd', inputs: {}, version: String(run), run });

/** Two tasks: the second one runs when the first has ended. */
const PIPELINE = {
  id: 'p',
  goal: 'g',
  tasks: [
    { id: 'first', tool: 'held', inputs: {} },
    { id: 'second', tool: 'word', inputs: {}, await: ['first'] },
  ],
};

describe('A server whose tools were read again', () => {
  const folder = useTemporaryFolder();
  let held: ControlledTool;
  let target: ReloadTarget | undefined;
  let server: TestServer;

  async function start(env: Record<string, string> = {}): Promise<void> {
    held = new ControlledTool('held');
    server = await startTestServer({
      env,
      tools: [held.tool, toolOf('word', () => 'one')],
      openReload: (given) => {
        target = given;
        return {
          last: undefined,
          reload: () => Promise.reject(new Error('not asked')),
          watch: async () => undefined,
          close: () => undefined,
        };
      },
    });
  }

  afterEach(() => server.close(0));

  const use = (...tools: readonly Tool[]): void =>
    target?.useCatalog(builtinCatalog().with([held.tool, ...tools]));

  const submit = async (): Promise<string> => {
    const { body } = await server.request('POST', '/pipelines/run_async', { pipeline: PIPELINE });
    return String(body['run_id']);
  };

  const recordOf = async (runId: string) => {
    const { body } = await server.request<{
      status: string;
      result: { outputs: Record<string, unknown> } | null;
    }>('GET', `/pipelines/runs/${runId}?wait=60`);
    return body;
  };

  it('gives runs at work the tools that they have begun with, and new runs the new ones', async () => {
    await start();
    const old = await submit();
    await held.started(1);
    use(toolOf('word', () => 'two'));
    await held.returns(1);
    expect((await recordOf(old)).result?.outputs).to.deep.equal({ first: 1, second: 'one' });
    const next = await submit();
    await held.started(2);
    await held.returns(2);
    expect((await recordOf(next)).result?.outputs).to.deep.equal({ first: 2, second: 'two' });
  });

  it('lists, documents and checks with the new tools', async () => {
    await start();
    await server.request('GET', '/schemas/pipeline.json');
    use(toolOf('other', () => 'x'));
    const { body } = await server.request<{ tools: string[] }>('GET', '/pipelines/tools');
    expect(body.tools).to.include('other').and.not.include('word');
    const schema = await server.request('GET', '/schemas/pipeline.json');
    expect(JSON.stringify(schema.body)).to.contain('"other"').and.not.contain('"word"');
    const report = await server.request('POST', '/pipelines/validate', { pipeline: PIPELINE });
    expect(report.body).to.include({ ok: false });
  });

  it('calls the new tools in reruns of earlier runs, and reuses what tools have made that are the same', async () => {
    await start();
    const fails = toolOf('word', () => {
      throw new Error('wrong');
    });
    use(fails);
    const runId = await submit();
    await held.started(1);
    await held.returns(1);
    expect((await recordOf(runId)).status).to.equal('failed');
    use(toolOf('word', () => 'mended'));
    const { body } = await server.request('POST', `/pipelines/runs/${runId}/rerun`, { from: 'failed' });
    const record = await recordOf(String(body['run_id']));
    expect(record.result?.outputs).to.deep.equal({ first: 1, second: 'mended' });
    expect(held.calls).to.have.length(1);
  });

  it('refuses reruns that need a tool which is there no more', async () => {
    await start();
    const runId = await submit();
    await held.started(1);
    await held.returns(1);
    await recordOf(runId);
    use();
    const { status, body } = await server.request('POST', `/pipelines/runs/${runId}/rerun`, {});
    expect(status).to.equal(400);
    expect(body['detail']).to.include({ code: 'invalid_definition' });
  });

  it('checks the files of its folder of pipelines again', async () => {
    folder.write('p.json', JSON.stringify({ pipeline: PIPELINE }));
    await start({ SERVICE_PIPELINES: folder.path });
    await server.restored;
    const counts = () => server.library?.counts;
    await settleUntil(() => counts()?.pipelines === 1);
    expect(counts()).to.include({ broken: 0 });
    use();
    await settleUntil(() => counts()?.broken === 1);
    use(toolOf('word', () => 'two'));
    await settleUntil(() => counts()?.broken === 0);
  });
});
