import { expect } from 'chai';
import { join } from 'node:path';
import { listWorkers } from '../../../common/workers/processes.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { post, Serve } from './serving.js';

const FAKE = join(ROOT, 'spec/tools/mcp/fake-server.mjs');

interface Answer {
  readonly outputs?: Record<string, unknown>;
  readonly detail?: { readonly code: string; readonly message: string; readonly error?: string };
}

describe('wavetrain serve with MCP servers (D49)', () => {
  const folder = new TemporaryFolder();
  let serve: Serve;
  let url: string;

  before(() => requireBuild());

  afterEach(async () => {
    serve.signals.emit('SIGTERM');
    expect(await serve.ended).to.include({ status: 0, stderr: '' });
  });

  after(() => folder.remove());

  /** Serves with a server in the mode, which `--mcp` names. */
  async function start(mode = 'normal', env: Record<string, string> = {}): Promise<void> {
    serve = new Serve(['--mcp', configure(mode)], env);
    url = await serve.url();
  }

  function configure(mode: string): string {
    const fake = { command: process.execPath, args: [FAKE, mode], env: { KEY: 'sk-very-secret' } };
    return folder.write(`${mode}.json`, JSON.stringify({ mcpServers: { fake } }));
  }

  async function run(tool: string, inputs: object = {}, more: object = {}): Promise<Answer> {
    const tasks = [{ id: 'a', tool, inputs, ...more }];
    const response = await post(url, '/pipelines/run', { pipeline: { id: 'p', goal: 'g', tasks } });
    return (await response.json()) as Answer;
  }

  async function listTools(): Promise<string[]> {
    const { tools } = (await (await fetch(`${url}/pipelines/tools`)).json()) as { tools: string[] };
    return tools.filter((name) => name.startsWith('mcp.'));
  }

  it('lists their tools, and runs call them', async () => {
    await start();
    expect(await listTools()).to.include('mcp.fake.echo');
    expect((await run('mcp.fake.echo', { text: 'hi' })).outputs).to.deep.equal({ a: 'hi' });
  });

  it('starts those that SERVICE_MCP_FILE names', async () => {
    serve = new Serve([], { SERVICE_MCP_FILE: configure('normal') });
    url = await serve.url();
    expect((await run('mcp.fake.echo', { text: 'hi' })).outputs).to.deep.equal({ a: 'hi' });
  });

  it('has the process that starts others start them, and forks none of them itself', async function () {
    if (process.platform === 'win32') this.skip();
    await start();
    const [forkServer = expect.fail()] = await listWorkers(process.pid, 'fork-server-process.cjs');
    expect(await listWorkers(process.pid, 'fake-server.mjs')).to.deep.equal([]);
    expect(await listWorkers(forkServer, 'fake-server.mjs')).to.have.length(1);
  });

  it('lets callers name no server of their own, wherever they write it', async () => {
    await start();
    expect((await run('mcp.other.echo', { text: 'hi' })).detail).to.include({ code: 'invalid_definition' });
    const mcpServers = { other: { command: 'touch', args: [folder.at('made-by-caller')] } };
    const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mcp.other.echo' }] };
    for (const body of [
      { pipeline, mcpServers },
      { pipeline: { ...pipeline, mcpServers } },
      { pipeline, options: { mcpServers, mcp: 'mcp.json' } },
    ]) {
      const response = await post(url, '/pipelines/run', body);
      expect(response.status, JSON.stringify(body)).to.be.oneOf([400, 422]);
    }
  });

  it('warns of a server that cannot be started, and serves without its tools', async () => {
    await start('broken');
    expect(await listTools()).to.deep.equal([]);
    const warning = serve.lines.find(({ level }) => level === 'warn');
    expect(warning?.['msg']).to.match(
      /^cannot list the tools of the MCP server "fake": .*cannot find the module/,
    );
    expect((await run('mcp.fake.echo', { text: 'hi' })).detail).to.include({ code: 'invalid_definition' });
  });
});
