import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { systemClock } from '../../../lib/common/clock.js';
import { openSdkSession } from '../../../lib/tools/mcp/sdk.js';
import { McpServers } from '../../../lib/tools/mcp/servers.js';
import { catchRejection } from '../../support/rejection.js';

describe('An MCP server over HTTP that redirects (D49)', () => {
  it('is not followed, so that no configured header reaches an address that nobody has configured', async () => {
    const reached: unknown[] = [];
    const server = createServer(({ url, headers }, response) => {
      if (url === '/other') reached.push(headers['x-api-key']);
      response.writeHead(307, { location: '/other?key=geheim' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const config = {
      kind: 'http',
      name: 'web',
      url: `${origin}/mcp`,
      headers: { 'x-api-key': 'geheim' },
    } as const;
    const warn = (): void => undefined;
    const servers = new McpServers([config], {
      clock: systemClock,
      version: '1',
      openSession: openSdkSession,
      warn,
    });
    try {
      const error = (await catchRejection(servers.tools())) as Error;
      expect(error.message)
        .to.include(`redirects to ${origin}/other: configure an address there`)
        .and.not.include('geheim');
      expect(reached).to.deep.equal([]);
    } finally {
      await servers.close();
      server.close();
      server.closeAllConnections();
    }
  });
});
