import { expect } from 'chai';
import { parseMcpConfig } from '../../../lib/tools/mcp/config.js';

const ENV = { PATH: '/bin', HOME: '/home/me', TOKEN: 'secret', OTHER: 'x' };

function parse(servers: unknown): ReturnType<typeof parseMcpConfig> {
  const text = JSON.stringify({ mcpServers: servers });
  return parseMcpConfig(text, { file: 'mcp.json', folder: '/project', env: ENV });
}

describe('The configuration of MCP servers', () => {
  it('reads a program, which sees PATH, HOME and what is configured, and starts in the folder of the file', () => {
    expect(
      parse({ a: { command: 'node', args: ['s.js'], env: { KEY: '${TOKEN}' }, cwd: 'sub' } }),
    ).to.deep.equal([
      {
        kind: 'stdio',
        name: 'a',
        command: 'node',
        args: ['s.js'],
        env: { PATH: '/bin', HOME: '/home/me', KEY: 'secret' },
        cwd: '/project/sub',
        hidden: ['secret'],
      },
    ]);
  });

  it('reads a URL with headers, and leaves out what is disabled', () => {
    const servers = {
      a: { type: 'http', url: 'https://mcp.example/', headers: { authorization: 'Bearer ${TOKEN}' } },
      b: { command: 'x', disabled: true },
      c: { url: 'http://127.0.0.1:${PORT:-3001}/mcp' },
    };
    expect(parse(servers)).to.deep.equal([
      {
        kind: 'http',
        name: 'a',
        url: 'https://mcp.example/',
        headers: { authorization: 'Bearer secret' },
        hidden: ['secret'],
      },
      { kind: 'http', name: 'c', url: 'http://127.0.0.1:3001/mcp', headers: {} },
    ]);
  });

  it('lists the values of variables that nobody may see, wherever they stand, and no places (D61)', () => {
    const env = {
      ...ENV,
      API_KEY: 'key1',
      DATABASE: 'postgres://u:p@db/x',
      DATA_DIR: '/srv/data/all',
      MODE: 'fast',
    };
    const args = [
      '${API_KEY}',
      'd=${DATABASE}',
      '${DATA_DIR}',
      '${HOME}/x',
      '${MODE}',
      '${NONE:-a-default-value}',
    ];
    const text = JSON.stringify({ mcpServers: { a: { command: 'x', args } } });
    expect(parseMcpConfig(text, { file: 'mcp.json', folder: '/', env })[0]?.hidden).to.deep.equal([
      'key1',
      'postgres://u:p@db/x',
    ]);
  });

  it('names servers as tools can be named', () => {
    expect(parse({ 'my server': { command: 'x' } })[0]?.name).to.equal('my_server');
    expect(() => parse({ 'my server': { command: 'x' }, 'my/server': { command: 'x' } })).to.throw(
      'the MCP configuration mcp.json: server "my/server" needs a name of its own',
    );
  });

  const MISTAKES: readonly [string, unknown, string][] = [
    ['neither a program nor a URL', { a: {} }, 'server "a" needs either "command"'],
    ['both', { a: { command: 'x', url: 'http://x/' } }, 'server "a" needs either "command"'],
    [
      'a misspelt field',
      { a: { command: 'x', arg: [] } },
      'server "a" has an unknown field "arg"; did you mean "args"?',
    ],
    ['arguments that are no list', { a: { command: 'x', args: 'y' } }, 'needs a list of texts as "args"'],
    ['a variable of another type', { a: { command: 'x', env: { A: 1 } } }, 'needs a text as "env.A"'],
    [
      'the replaced transport',
      { a: { url: 'http://x/', type: 'sse' } },
      'give the URL of its streamable HTTP',
    ],
    ['another scheme', { a: { url: 'file:///x' } }, 'begins with http:// or https://'],
    ['a missing variable', { a: { command: 'x', env: { K: '${NONE}' } } }, 'set NONE'],
    ['a server that is no object', { a: 'x' }, 'server "a" must be an object'],
    ['51 servers', Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`s${i}`, {}])), 'has 51 servers'],
    ['no object of servers', [], 'has no object "mcpServers"'],
  ];
  for (const [what, servers, message] of MISTAKES) {
    it(`refuses ${what}, and says what to write`, () => {
      expect(() => parse(servers)).to.throw(message);
    });
  }

  it('refuses what is not JSON', () => {
    expect(() => parseMcpConfig('{', { file: 'mcp.json', folder: '/', env: {} })).to.throw(
      'the MCP configuration mcp.json is not JSON',
    );
  });
});
