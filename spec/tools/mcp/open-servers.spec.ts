import { expect } from 'chai';
import { join } from 'node:path';
import { LocalExecutor, type OpenedMcpServers, openMcpServers, parsePipeline } from 'wavetrain';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const FAKE = join(import.meta.dirname, 'fake-server.mjs');
const PIPELINE = '{id: p, goal: g, tasks: [{id: a, tool: mcp.fake.echo, inputs: {text: hi}}]}';

describe('openMcpServers, of the library (D49)', () => {
  const folder = new TemporaryFolder();
  const lines: string[] = [];
  const onStderr = (_server: string, line: string): void => void lines.push(line);
  let opened: OpenedMcpServers | undefined;

  afterEach(() => opened?.close());

  after(() => folder.remove());

  function fake(mode = 'normal', more: object = {}): { command: string; args: string[] } {
    return { command: process.execPath, args: [FAKE, mode], ...more };
  }

  async function runEcho({ tools }: OpenedMcpServers): Promise<unknown> {
    const executor = new LocalExecutor();
    const pipeline = parsePipeline(PIPELINE, { tools });
    const { outputs } = await executor.getResult(await executor.submit({ pipeline }));
    return outputs['a'];
  }

  it('makes tools of servers that are given as an object, and says which are left out', async () => {
    opened = await openMcpServers({ fake: fake() }, {});
    expect(await runEcho(opened)).to.equal('hi');
    expect(opened.warnings[0]).to.contain('is left out: another one is called mcp.fake.get_user_name');
  });

  it('reads a file, whose variables have the values that are passed, and no others', async () => {
    const file = folder.write(
      'mcp.json',
      JSON.stringify({ mcpServers: { fake: fake('normal', { env: { KEY: '${K}' } }) } }),
    );
    expect(String(await catchRejection(openMcpServers(file, {})))).to.contain('set K');
    opened = await openMcpServers(file, { K: 'sk-very-secret' }, { onStderr });
    const die = opened.tools.find(({ name }) => name === 'mcp.fake.die');
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: mcp.fake.die}]}', {
      tools: die ? [die] : [],
    });
    const executor = new LocalExecutor();
    const failed = await catchRejection(executor.getResult(await executor.submit({ pipeline })));
    expect(String(failed)).to.contain('its last words: dying of ***');
    expect(lines).to.deep.equal(['dying of ***']);
  });

  it('ends them when it is disposed of: calls then fail', async () => {
    opened = await openMcpServers({ fake: fake() }, {});
    await opened[Symbol.asyncDispose]();
    expect(String(await catchRejection(runEcho(opened)))).to.contain('the MCP server "fake": Wavetrain ends');
  });

  it('rejects when one cannot be started, with its last words, and ends the others', async () => {
    const error = await catchRejection(openMcpServers({ fake: fake(), broken: fake('broken') }, {}));
    expect(error).to.include({ code: 'bad_tool_file' });
    expect(String(error)).to.contain('"broken"').and.to.contain('cannot find the module "x"');
  });

  it('rejects for a mistake in the configuration, and for a file that is not there', async () => {
    const wrong = { fake: { commnd: 'x' } } as never;
    expect(await catchRejection(openMcpServers(wrong, {}))).to.include({ code: 'bad_usage' });
    expect(await catchRejection(openMcpServers(folder.at('none.json'), {}))).to.include({
      code: 'unreadable_file',
      message: `cannot read "${folder.at('none.json')}": there is no such file`,
    });
  });
});
