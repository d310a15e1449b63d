import { expect } from 'chai';
import { LoopbackServer } from '../tools/fetching/loopback-server.js';
import { invoke } from './invoke.js';

const ALLOWED = { SERVICE_ALLOW_PRIVATE_NETWORK: 'true' };

describe('wavetrain run: the network (D51)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  const run = (tool: string, inputs: object, env: Record<string, string>) => {
    const input = JSON.stringify({ id: 'p', goal: 'be run', tasks: [{ id: 'a', tool, inputs }] });
    return invoke(['run', '-', '--json'], { input, env });
  };

  it('reaches private addresses only with SERVICE_ALLOW_PRIVATE_NETWORK', async () => {
    const inputs = { url: server.url };
    const refused = await run('http_request', inputs, {});
    expect(refused.status).to.equal(3);
    expect(refused.stdout).to.include(`add ${new URL(server.url).host} to SERVICE_ALLOW_NETWORKS`);
    expect(server.requests).to.deep.equal([]);
    const { status, stdout } = await run('http_request', inputs, ALLOWED);
    expect(status).to.equal(0);
    expect(stdout).to.include('"body":"ok"');
  });

  it('rejects another value of SERVICE_ALLOW_PRIVATE_NETWORK', async () => {
    const { status, stderr } = await run(
      'http_request',
      { url: server.url },
      { SERVICE_ALLOW_PRIVATE_NETWORK: 'yes' },
    );
    expect(status).to.not.equal(0);
    expect(stderr).to.include('SERVICE_ALLOW_PRIVATE_NETWORK must be true or false, not "yes"');
  });

  it('searches with the provider of SERVICE_SEARCH_PROVIDER', async () => {
    server.handler = (_, response) =>
      response.end('{"results": [{"title": "Found", "url": "https://a.example/"}]}');
    const env = { ...ALLOWED, SERVICE_SEARCH_PROVIDER: `${server.url}/?q={query}` };
    expect((await run('search_web', { query: 'x' }, env)).stdout).to.include('"title":"Found"');
    const wrong = await run('search_web', { query: 'x' }, { SERVICE_SEARCH_PROVIDER: 'bing' });
    expect(wrong.stderr).to.include(
      'SERVICE_SEARCH_PROVIDER must be duckduckgo, brave, serpapi, or a URL with {query}',
    );
  });

  it('passes SEC_USER_AGENT on to the source sec_edgar', async () => {
    const inputs = { source: 'sec_edgar', companies: [] };
    expect((await run('fetch_data', inputs, { SEC_USER_AGENT: 'Acme a@acme.example' })).stdout).to.include(
      '"companies\\" is missing',
    );
  });
});
