import { expect } from 'chai';
import type { McpServerConfig } from '../../../lib/tools/mcp/config.js';
import { McpServers } from '../../../lib/tools/mcp/servers.js';
import type { McpSession } from '../../../lib/tools/mcp/session.js';
import type { Tool } from '../../../lib/tools/tool.js';
import { type Deferred, deferred, settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';
import { toolContext } from '../../support/tool-context.js';

const configOf = (name: string, url = `http://${name}/`): McpServerConfig => ({
  kind: 'http',
  name,
  url,
  headers: {},
});

const IDLE_MS = 60_000;

describe('MCP servers of a configuration that was read again', () => {
  let clock: ManualClock;
  /** The URLs of sessions that were opened, and of those that were closed. */
  let opened: string[];
  let closed: string[];
  let broken: Set<string>;
  let warnings: string[];
  let call: Deferred<void> | undefined;

  beforeEach(() => {
    clock = new ManualClock();
    [opened, closed, warnings] = [[], [], []];
    broken = new Set();
    call = undefined;
  });

  function create(configs: readonly McpServerConfig[], earlier?: McpServers): McpServers {
    const openSession = async ({ config }: { readonly config: McpServerConfig }): Promise<McpSession> => {
      const url = config.kind === 'http' ? config.url : '';
      if (broken.has(url)) throw new Error('cannot connect');
      opened.push(url);
      return {
        serverVersion: '1',
        listTools: async () => {
          if (broken.has(url)) throw new Error('it does not answer');
          return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
        },
        callTool: async () => {
          await call?.promise;
          return { content: [{ type: 'text', text: url }] };
        },
        close: async () => void closed.push(url),
      };
    };
    return new McpServers(
      configs,
      { clock, version: '1', openSession, warn: (message) => void warnings.push(message) },
      earlier,
    );
  }

  const namesOf = (tools: readonly Tool[]): string[] => tools.map(({ name }) => name);
  const runOf = async ([tool]: readonly Tool[]): Promise<unknown> => tool?.run({}, toolContext());

  it('go on where their entry is the same, and are started anew where it is another', async () => {
    const first = create([configOf('a'), configOf('b')]);
    await first.tools();
    const second = create([configOf('a'), configOf('b', 'http://other/')], first);
    expect(namesOf(await second.tools())).to.deep.equal(['mcp.a.echo', 'mcp.b.echo']);
    expect(opened).to.deep.equal(['http://a/', 'http://b/', 'http://other/']);
    second.retireEarlier();
    clock.advance(IDLE_MS);
    await settle();
    expect(closed).to.deep.equal(['http://b/']);
  });

  it('end after a reload only when no run has called them for a minute, and are started again for one that does', async () => {
    const first = create([configOf('a')]);
    const tools = await first.tools();
    call = deferred<void>();
    const running = runOf(tools);
    await settle();
    const second = create([configOf('a', 'http://other/')], first);
    await second.tools();
    second.retireEarlier();
    clock.advance(2 * IDLE_MS);
    await settle();
    expect(closed).to.deep.equal([]);
    call.resolve();
    expect(await running).to.equal('http://a/');
    clock.advance(IDLE_MS);
    await settle();
    expect(closed).to.deep.equal(['http://a/']);
    expect(await runOf(tools)).to.equal('http://a/');
    expect(opened.filter((url) => url === 'http://a/')).to.have.length(2);
  });

  it('are refused when a new one cannot be started, and the others stay', async () => {
    const first = create([configOf('a')]);
    await first.tools();
    broken.add('http://b/');
    const second = create([configOf('a'), configOf('b')], first);
    expect(await catchRejection(second.tools())).to.include({ code: 'bad_tool_file' });
    second.drop();
    clock.advance(2 * IDLE_MS);
    await settle();
    expect(closed).to.deep.equal([]);
  });

  it('keep their tools, after a warning, where one that goes on does not answer', async () => {
    const first = create([configOf('a')]);
    await first.tools();
    broken.add('http://a/');
    const second = create([configOf('a')], first);
    expect(namesOf(await second.tools())).to.deep.equal(['mcp.a.echo']);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/"a".*its tools stay as they were$/);
  });
});
