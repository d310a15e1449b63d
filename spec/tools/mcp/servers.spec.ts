import { expect } from 'chai';
import { join } from 'node:path';
import { systemClock } from '../../../lib/common/clock.js';
import { findLiteralInputProblems } from '../../../lib/tools/inputs/literal-inputs.js';
import { McpServers } from '../../../lib/tools/mcp/servers.js';
import { openSdkSession } from '../../../lib/tools/mcp/sdk.js';
import type { Tool } from '../../../lib/tools/tool.js';
import { catchRejection } from '../../support/rejection.js';
import { toolContext } from '../../support/tool-context.js';

const FAKE = join(import.meta.dirname, 'fake-server.mjs');

describe('Tools of an MCP server that is started here (D49)', () => {
  let servers: McpServers;
  let warnings: string[];
  let lines: string[];

  beforeEach(() => {
    warnings = [];
    lines = [];
  });

  afterEach(() => servers.close());

  function start(mode = 'normal', args = [FAKE, mode]): void {
    servers = new McpServers(
      [
        {
          kind: 'stdio',
          name: 'fake',
          command: process.execPath,
          args,
          env: { KEY: 'sk-very-secret' },
          cwd: import.meta.dirname,
        },
      ],
      {
        clock: systemClock,
        version: '1',
        openSession: openSdkSession,
        warn: (message) => void warnings.push(message),
        onStderr: (server, line) => void lines.push(`${server}: ${line}`),
      },
    );
  }

  async function open(mode?: string): Promise<Map<string, Tool>> {
    start(mode);
    const tools = await servers.tools();
    return new Map(tools.map((tool) => [tool.name, tool]));
  }

  function run(
    tools: Map<string, Tool>,
    name: string,
    inputs: object = {},
    context = toolContext(),
  ): unknown {
    return tools.get(`mcp.fake.${name}`)?.run({ ...inputs }, context);
  }

  it('have the schema of their output, without references, when their server has one', async () => {
    const tools = await open();
    expect(tools.get('mcp.fake.echo')?.output).to.not.have.property('schema');
    const row = { type: 'object', properties: { id: { type: 'integer' }, next: true } };
    expect(tools.get('mcp.fake.hang')?.output.schema).to.deep.equal({
      type: 'object',
      properties: { rows: { type: 'array', items: row } },
      additionalProperties: false,
    });
  });

  it('are named after the server, with characters that names can have; what does not fit is left out with a warning', async () => {
    const tools = await open();
    expect([...tools.keys()]).to.deep.equal(
      ['env', 'echo', 'hang', 'forget', 'cancelled', 'die', 'refuse', 'get_user_name', 'huge'].map(
        (name) => `mcp.fake.${name}`,
      ),
    );
    expect(tools.get('mcp.fake.echo')?.description).to.equal('says it [31magain');
    expect(warnings.map((warning) => warning.slice(0, 70))).to.deep.equal(
      [
        'MCP server "fake": its tool "get_user_name" is left out: another one i',
        `MCP server "fake": its tool "${'x'.repeat(41)}`,
        'MCP server "fake": the inputs of mcp.fake.huge are not checked here: t',
      ].map((warning) => warning.slice(0, 70)),
    );
  });

  it('have their inputs checked as they are written, but for templates', async () => {
    const echo = (await open()).get('mcp.fake.echo');
    const check = (inputs: Record<string, string | number>): string[] =>
      echo === undefined ? [] : [...findLiteralInputProblems(echo, inputs)].map(({ code }) => code);
    expect(check({ text: 'a' })).to.deep.equal([]);
    expect(check({ text: 1 })).to.deep.equal(['invalid_input']);
    expect(check({ txt: 'a' })).to.deep.equal(['missing_input', 'unknown_input']);
    expect(check({ text: '{{a.output}}' })).to.deep.equal([]);
  });

  it('see no more of the environment than is configured', async () => {
    const output = await run(await open(), 'env');
    const names = Object.keys(JSON.parse(String(output)) as object);
    expect(names.filter((name) => !name.startsWith('__'))).to.deep.equal(['KEY']);
  });

  it('start the server again after it has died, and hide its keys in what it says last', async () => {
    const tools = await open();
    const error = (await catchRejection(Promise.resolve(run(tools, 'die')))) as Error;
    expect(error.message).to.equal(
      'the MCP server "fake": Connection closed (it ended with exit status 3; its last words: dying of ***)',
    );
    expect(lines).to.deep.equal(['fake: dying of ***']);
    expect(await run(tools, 'echo', { text: 'again' })).to.equal('again');
  });

  const noServers: [string, string[], string][] = [
    [
      'one that prints what is not MCP, such as ls, also without a last line break',
      ['-e', 'console.log("a.txt\\n\\nsk-very-secret"); process.stdout.write("c"); process.exitCode = 3'],
      '(it ended with exit status 3; it wrote what is not MCP: "a.txt", "***", "c")',
    ],
    [
      'one that does not start, whose error is not its last line',
      ['-e', 'console.error("x\\nError: no such module\\nNode.js v1"); process.exitCode = 1'],
      '(it ended with exit status 1; it said: Error: no such module)',
    ],
    [
      'one that prints lines for ever',
      ['-e', 'const say = () => process.stdout.write("y\\n".repeat(9999), say); say()'],
      '(it ended with the signal SIGKILL; it wrote what is not MCP: "y", "y", "y", …)',
    ],
  ];
  for (const [title, args, words] of noServers) {
    it(`say what a program did that is no MCP server: ${title}`, async () => {
      start('normal', args);
      expect(await catchRejection(servers.tools()))
        .to.have.property('message')
        .that.equals(
          `cannot list the tools of the MCP server "fake": "${process.execPath}" ended before it had answered in MCP; ` +
            `see whether "command" and "args" start an MCP server ${words}`,
        );
    });
  }

  it('fail without further attempts when the server refuses a call', async () => {
    const error = await catchRejection(Promise.resolve(run(await open(), 'refuse')));
    expect(error).to.include({
      message: 'the MCP server "fake": no tool "refuse" for ***',
      retryable: false,
    });
  });

  it('end the server even when it ignores that it shall end', async () => {
    await open('stubborn');
    await servers.close();
  });

  it('are missing, with the reason, when the server ends at its start', async () => {
    start('broken');
    const failures: unknown[] = [];
    expect(await servers.tools(undefined, (error) => void failures.push(error))).to.deep.equal([]);
    expect(String(failures[0])).to.match(
      /cannot list the tools of the MCP server "fake": .*cannot find the module "x"/,
    );
  });

  it('are missing, with the last words, when the program ends before it has read anything', async () => {
    const args = ['-c', 'exec <&-; echo nothing here >&2'];
    servers = new McpServers([{ kind: 'stdio', name: 'sh', command: '/bin/sh', args, env: {}, cwd: '/' }], {
      clock: systemClock,
      version: '1',
      openSession: openSdkSession,
      warn: () => undefined,
    });
    const error = (await catchRejection(servers.tools())) as Error;
    expect(error.message).to.equal(
      'cannot list the tools of the MCP server "sh": "/bin/sh" ended before it had answered in MCP; see whether "command" and "args" ' +
        'start an MCP server (it ended with exit status 0; its last words: nothing here)',
    );
  });

  it('are missing, with what to install, when there is no such program', async () => {
    servers = new McpServers(
      [{ kind: 'stdio', name: 'none', command: 'no-such-program', args: [], env: {}, cwd: '/' }],
      { clock: systemClock, version: '1', openSession: openSdkSession, warn: () => undefined },
    );
    const error = (await catchRejection(servers.tools())) as Error;
    expect(error.message).to.equal(
      'cannot list the tools of the MCP server "none": there is no program "no-such-program": install it, or write its whole path',
    );
  });
});
