import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { systemClock } from '../../../lib/common/clock.js';
import type { McpServerConfig } from '../../../lib/tools/mcp/config.js';
import { openSdkSession } from '../../../lib/tools/mcp/sdk.js';
import { McpServers } from '../../../lib/tools/mcp/servers.js';
import type { Tool } from '../../../lib/tools/tool.js';
import { catchRejection } from '../../support/rejection.js';
import { settle } from '../../support/deferred.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { toolContext } from '../../support/tool-context.js';

const modules =
  createRequire(import.meta.url)
    .resolve('@modelcontextprotocol/client')
    .split('/client/dist/')[0] ?? '';
const EVERYTHING = join(modules, 'server-everything/dist/index.js');
const FILESYSTEM = join(modules, 'server-filesystem/dist/index.js');

describe('Published MCP servers', () => {
  const folder = new TemporaryFolder();
  let servers: McpServers | undefined;
  let http: ChildProcess | undefined;

  afterEach(async () => {
    await servers?.close();
    http?.kill('SIGKILL');
    http = undefined;
  });

  after(() => folder.remove());

  async function open(config: McpServerConfig): Promise<Map<string, Tool>> {
    servers = new McpServers([config], {
      clock: systemClock,
      version: '1',
      openSession: openSdkSession,
      warn: (message) => {
        throw new Error(message);
      },
    });
    return new Map((await servers.tools()).map((tool) => [tool.name, tool]));
  }

  function started(name: string, ...args: string[]): McpServerConfig {
    return { kind: 'stdio', name, command: process.execPath, args, env: {}, cwd: folder.path };
  }

  /** Starts server-everything on a free port of this machine. */
  async function startHttp(): Promise<McpServerConfig> {
    const port = await findFreePort();
    const env = { ...process.env, PORT: String(port) };
    const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    http = child;
    for await (const chunk of child.stderr) if (String(chunk).includes('listening')) break;
    return { kind: 'http', name: 'web', url: `http://127.0.0.1:${port}/mcp`, headers: { 'x-key': 'k' } };
  }

  async function checkEverything(tools: Map<string, Tool>, name: string): Promise<void> {
    const context = toolContext();
    const call = async (tool: string, inputs: object = {}): Promise<unknown> =>
      await tools.get(`mcp.${name}.${tool}`)?.run({ ...inputs }, context);
    expect(await call('echo', { message: 'hi' })).to.equal('Echo: hi');
    expect(await call('get-structured-content', { location: 'Chicago' })).to.have.keys(
      'temperature',
      'conditions',
      'humidity',
    );
    expect(await call('get-tiny-image')).to.have.nested.property('[1].media_type', 'image/png');
    expect(context.written.map(({ name: file }) => file)).to.deep.equal([`mcp-${name}-get-tiny-image.png`]);
    const failed = await catchRejection(call('get-sum', { a: 'x' }));
    expect(String(failed)).to.contain('Invalid arguments for tool get-sum');
  }

  it('server-everything: texts, structured content, images as files of the run, and errors (D49)', async () => {
    const tools = await open(started('all', EVERYTHING, 'stdio'));
    expect(tools.get('mcp.all.get-sum')?.inputs).to.deep.equal({
      a: { description: 'First number', type: 'number', required: true },
      b: { description: 'Second number', type: 'number', required: true },
    });
    await checkEverything(tools, 'all');
  });

  it('server-everything: reports progress as log messages, and ends a call that is aborted', async () => {
    const tools = await open(started('all', EVERYTHING, 'stdio'));
    const context = toolContext();
    const long = tools.get('mcp.all.trigger-long-running-operation');
    await long?.run({ duration: 0.1, steps: 2 }, context);
    expect(context.logs[0]).to.equal('progress');
    const running = catchRejection(Promise.resolve(long?.run({ duration: 600, steps: 1 }, context)));
    await settle();
    context.abort();
    expect(String(await running)).to.contain('the MCP server "all"');
  });

  it('server-everything over streamable HTTP', async () => {
    await checkEverything(await open(await startHttp()), 'web');
  });

  it('a server that does not listen fails with its name', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}/mcp`;
    const error = await catchRejection(open({ kind: 'http', name: 'web', url, headers: {} }));
    expect(String(error)).to.contain('cannot list the tools of the MCP server "web"');
  });

  it('server-filesystem: reads its folder, and an error of it fails the task with its text', async () => {
    folder.write('a.txt', 'hello');
    const tools = await open(started('files', FILESYSTEM, folder.path));
    const read = tools.get('mcp.files.read_text_file');
    expect(await read?.run({ path: folder.at('a.txt') }, toolContext())).to.deep.equal({ content: 'hello' });
    const error = await catchRejection(Promise.resolve(read?.run({ path: '/etc/hosts' }, toolContext())));
    expect(String(error)).to.contain('Access denied');
  });
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
