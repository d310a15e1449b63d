import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { requireBuild, ROOT } from '../../project/files.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const FAKE = join(import.meta.dirname, 'fake-server.mjs');

const HANG = `pipeline:
  id: hang
  goal: wait for a server that never answers
  tasks:
    - {id: a, tool: mcp.fake.hang}
`;

describe('An MCP server whose Wavetrain is killed with SIGKILL', () => {
  const folder = new TemporaryFolder();
  let watcher: Server;
  let wavetrain: ChildProcess | undefined;

  before(async () => {
    requireBuild();
    folder.write('hang.yaml', HANG);
    watcher = createServer().listen(0, '127.0.0.1');
    await once(watcher, 'listening');
  });

  afterEach(() => wavetrain?.kill('SIGKILL'));

  after(() => {
    watcher.close();
    folder.remove();
  });

  /** Starts Wavetrain with a server, and returns a connection of each of the server's processes. */
  async function start(mode: string, processes: number, ...argv: string[]): Promise<Socket[]> {
    const { port } = watcher.address() as AddressInfo;
    const fake = { command: process.execPath, args: [FAKE, mode, String(port)] };
    folder.write('mcp.json', JSON.stringify({ mcpServers: { fake } }));
    wavetrain = spawn(process.execPath, [join(ROOT, 'bin/wavetrain.js'), ...argv, '--mcp', 'mcp.json'], {
      cwd: folder.path,
      stdio: 'ignore',
      detached: true,
    });
    const connections: Socket[] = [];
    while (connections.length < processes) {
      const [connection] = (await once(watcher, 'connection')) as [Socket];
      connections.push(connection.on('error', () => undefined).resume());
    }
    return connections;
  }

  /** Kills Wavetrain, or its process group, and resolves when all processes of the server have ended. */
  async function killAndAwait(connections: readonly Socket[], sign: 1 | -1 = 1): Promise<void> {
    const ended = Promise.all(connections.map((connection) => once(connection, 'close')));
    process.kill(sign * (wavetrain?.pid ?? Number.NaN), 'SIGKILL');
    await ended;
    expect(wavetrain?.signalCode ?? 'SIGKILL').to.equal('SIGKILL');
  }

  it('ends with a command, at the end of its standard input', async () => {
    await killAndAwait(await start('normal', 1, 'run', 'hang.yaml'));
  });

  it('ends with a command although it ignores the end of its standard input and SIGTERM', async () => {
    await killAndAwait(await start('stubborn', 1, 'run', 'hang.yaml'));
  });

  it('ends with a server, at the end of its standard input', async () => {
    await killAndAwait(await start('normal', 1, 'serve', '--port', '0'));
  });

  it('ends with a server although it ignores them, and so does what it has started itself', async () => {
    await killAndAwait(await start('parent', 2, 'serve', '--port', '0'));
  });

  it('ends with a server whose process group is killed, also the process that has started it', async () => {
    await killAndAwait(await start('parent', 2, 'serve', '--port', '0'), -1);
  });
});
