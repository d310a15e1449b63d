import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { expect } from 'chai';
import { readOutbound } from '../../../lib/common/config/outbound-config.js';
import type { Outbound } from '../../../lib/common/requests/outbound.js';
import { networkAccess } from '../../../lib/tools/fetching/network.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { fetchCaller, LoopbackServer } from './loopback-server.js';
import { TestAuthority } from './test-authority.js';

const SQUID = '/usr/sbin/squid';

/** Only one name is allowed, as an operator would tell a proxy. */
const configuration = (folder: TemporaryFolder, port: number): string => `
http_port 127.0.0.1:${port}
hosts_file ${folder.at('hosts')}
acl known dstdomain shop.example
http_access allow known
http_access deny all
cache deny all
pid_filename none
access_log none
cache_log ${folder.at('cache.log')}
coredump_dir ${folder.at('.')}
shutdown_lifetime 0 seconds
`;

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves when something listens there, or rejects when the process has ended. */
async function listening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`squid ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
  }
}

describe('Requests by the proxy squid (HTTP_PROXY, HTTPS_PROXY)', () => {
  const folder = new TemporaryFolder();
  let squid: ChildProcess | undefined;
  let server: LoopbackServer;
  let secure: Server | undefined;
  let outbound: Outbound | undefined;

  before(async function () {
    const isMissing = spawnSync(SQUID, ['-v']).status !== 0 || TestAuthority.isMissing;
    if (isMissing && process.env['CI'] !== undefined)
      throw new Error('squid or openssl is missing: apt-get install squid openssl');
    if (isMissing) {
      console.error('      not installed: apt-get install squid openssl, and these specs will run');
      this.skip();
    }
    server = await LoopbackServer.start();
    const port = await freePort();
    // Squid that is started by root reads the file as another user.
    chmodSync(folder.path, 0o711);
    folder.write('hosts', '127.0.0.1 shop.example\n127.0.0.1 other.example\n');
    squid = spawn(SQUID, ['-N', '-f', folder.write('squid.conf', configuration(folder, port))], {
      stdio: 'ignore',
    });
    await listening(port, squid);
    const address = `http://127.0.0.1:${port}`;
    const authority = new TestAuthority(folder);
    secure = createServer(authority.sign('shop.example'), (_, response) => response.end('in a tunnel'));
    await once(secure.listen(0, '127.0.0.1'), 'listening');
    outbound = readOutbound({
      HTTP_PROXY: address,
      HTTPS_PROXY: address,
      SERVICE_CA_FILE: authority.file,
    });
  });
  after(async () => {
    if (squid?.kill('SIGKILL')) await once(squid, 'exit');
    secure?.closeAllConnections();
    secure?.close();
    await server?.close();
    folder.remove();
  });

  const get = async (url: string) => {
    const resolve = async (): Promise<never> => {
      throw new Error('this machine looks no name up');
    };
    return await networkAccess({ outbound, resolve }).fetch(url, {}, fetchCaller());
  };

  it('reach a server, in more than one request', async () => {
    server.handler = ({ headers: { via } }, response) =>
      response.end(via?.includes('squid') ? 'by squid' : via);
    for (let count = 0; count < 2; count++) {
      const { status, bytes } = await get(`http://shop.example:${server.port}/`);
      expect([status, bytes.toString()]).to.deep.equal([200, 'by squid']);
    }
  });

  it('reach a server with https in a tunnel', async () => {
    const { port } = secure?.address() as AddressInfo;
    expect((await get(`https://shop.example:${port}/`)).bytes.toString()).to.equal('in a tunnel');
  });

  it('are refused by the proxy for other hosts', async () => {
    expect(await get(`http://other.example:${server.port}/`)).to.include({ status: 403 });
    expect(await catchRejection(get('https://other.example/'))).to.match(
      /GET https:\/\/other\.example\/ failed: the proxy 127\.0\.0\.1:\d+ refused to connect, with status 403/,
    );
  });
});
