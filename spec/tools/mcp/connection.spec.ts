import { expect } from 'chai';
import type { McpServerConfig } from '../../../lib/tools/mcp/config.js';
import { type ConnectionOptions, McpConnection } from '../../../lib/tools/mcp/connection.js';
import type { McpSession, RemoteResult, RemoteTool, SessionOptions } from '../../../lib/tools/mcp/session.js';
import { deferred, settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { toolContext } from '../../support/tool-context.js';

const CONFIG = {
  kind: 'stdio',
  name: 'fake',
  command: 'fake',
  args: [],
  env: { KEY: 'sk-very-secret' },
  cwd: '/',
} as const;

const ANSWER: RemoteResult = { content: [{ type: 'text', text: 'ok' }] };

function tool(name: string): RemoteTool {
  return { name, inputSchema: { type: 'object' } };
}

/** A server in this process: each connection to it is one of `opened`. */
class FakeServer {
  readonly clock = new ManualClock();
  readonly opened: SessionOptions[] = [];
  readonly called: string[] = [];
  tools: RemoteTool[] = [tool('echo')];
  /** Undefined: connects at once. */
  open: ((options: SessionOptions) => Promise<void>) | undefined;
  list: McpSession['listTools'] = () => Promise.resolve({ tools: this.tools });
  answer: McpSession['callTool'] = () => Promise.resolve(ANSWER);
  closed = 0;

  readonly connection: McpConnection;

  constructor(config: McpServerConfig = CONFIG) {
    this.connection = new McpConnection(config, this.#options);
  }

  readonly #options: ConnectionOptions = {
    clock: this.clock,
    version: '1',
    openSession: async (options) => {
      this.opened.push(options);
      await this.open?.(options);
      return {
        serverVersion: 'fake 1',
        listTools: (cursor, control) => this.list(cursor, control),
        callTool: (name, args, control) => {
          this.called.push(name);
          return this.answer(name, args, control);
        },
        close: () => {
          this.closed++;
          return Promise.resolve();
        },
      };
    },
  };

  call(name = 'echo', context = toolContext()): Promise<RemoteResult> {
    return this.connection.call(name, {}, { ...context, clock: this.clock });
  }
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  return error?.message ?? 'it did not fail';
}

describe('A connection to an MCP server (D49)', () => {
  it('is made when the tools are first needed, and once for all', async () => {
    const server = new FakeServer();
    expect(server.opened).to.have.length(0);
    await Promise.all([server.connection.list(), server.call(), server.call()]);
    expect(server.opened).to.have.length(1);
  });

  it('fails with what to do when the server does not start within 10 s', async () => {
    const server = new FakeServer();
    server.open = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const listed = messageOf(server.connection.list());
    await settle();
    server.clock.advance(10_000);
    expect(await listed).to.equal(
      'cannot list the tools of the MCP server "fake": no complete answer within 10 s',
    );
  });

  it('fails when the server stalls while it lists its tools', async () => {
    const server = new FakeServer();
    server.list = () => new Promise(() => undefined);
    const listed = messageOf(server.connection.list());
    await settle();
    server.clock.advance(10_000);
    expect(await listed).to.contain('no complete answer within 10 s');
  });

  it('lists 1,000 of 5,000 tools, whatever the pages, and says that there are more', async () => {
    const server = new FakeServer();
    let pages = 0;
    server.list = () => {
      const start = pages++ * 100;
      const tools = Array.from({ length: 100 }, (_, i) => tool(`t${start + i}`));
      return Promise.resolve({ tools, nextCursor: String(start) });
    };
    const { tools, isCut } = await server.connection.list();
    expect(tools).to.have.length(1000);
    expect(isCut).to.equal(true);
    expect(pages).to.be.below(15);
  });

  it('ends a list of pages without tools that never ends', async () => {
    const server = new FakeServer();
    server.list = async () => {
      server.clock.advance(100);
      await settle();
      return { tools: [], nextCursor: 'more' };
    };
    expect(await messageOf(server.connection.list())).to.contain('no complete answer within 10 s');
  });

  it('ends a call with its attempt, whose end cancels the request', async () => {
    const server = new FakeServer();
    const context = toolContext();
    const cancelled = deferred<void>();
    server.answer = (_name, _args, { signal }) => {
      signal.addEventListener('abort', () => cancelled.resolve());
      return new Promise(() => undefined);
    };
    const failed = messageOf(server.call('echo', context));
    await settle();
    context.abort();
    await cancelled.promise;
    expect(await failed).to.contain('the MCP server "fake"');
  });

  it('ends a call after 15 minutes', async () => {
    const server = new FakeServer();
    server.answer = () => new Promise(() => undefined);
    const failed = messageOf(server.call());
    await settle();
    server.clock.advance(15 * 60_000);
    expect(await failed).to.equal('the MCP server "fake": no complete answer within 900 s');
  });

  it('is made again by the next call when the server has ended: at once, then after a delay that doubles', async () => {
    const server = new FakeServer();
    server.answer = () => Promise.reject(Object.assign(new Error('gone'), { kind: 'closed' }));
    const failOnce = async (waitMs: number): Promise<void> => {
      const failed = messageOf(server.call());
      await settle();
      if (waitMs > 0) {
        const before = server.opened.length;
        server.clock.advance(waitMs - 1);
        await settle();
        expect(server.opened).to.have.length(before);
        server.clock.advance(1);
      }
      expect(await failed).to.contain('gone');
      server.opened.at(-1)?.onClose();
    };
    await failOnce(0);
    await failOnce(0);
    await failOnce(500);
    await failOnce(1000);
    expect(server.opened).to.have.length(4);
    server.answer = () => Promise.resolve(ANSWER);
    const answered = server.call();
    await settle();
    server.clock.advance(2000);
    expect(await answered).to.equal(ANSWER);
    server.opened.at(-1)?.onClose();
    await server.call();
    expect(server.opened).to.have.length(6);
  });

  it('lists the tools again before a call when the server says that they have changed, and fails for one that is gone', async () => {
    const server = new FakeServer();
    await server.connection.list();
    server.tools = [tool('other')];
    server.opened[0]?.onListChanged();
    expect(await messageOf(server.call('echo'))).to.equal(
      'the MCP server "fake" has no tool "echo" any more: start Wavetrain again, or have the server reload, to see the tools that it has now',
    );
    expect(server.called).to.deep.equal([]);
    await server.call('other');
    expect(server.called).to.deep.equal(['other']);
  });

  it('lists the tools again after a restart, since the server may be another version', async () => {
    const server = new FakeServer();
    await server.connection.list();
    server.tools = [tool('echo'), tool('other')];
    server.opened[0]?.onClose();
    expect(await server.call('other')).to.equal(ANSWER);
    server.tools = [tool('echo')];
    server.opened[1]?.onClose();
    expect(await messageOf(server.call('other'))).to.contain('has no tool "other" any more');
  });

  it('lists the tools once for many calls, whichever of them ends, and again when they change meanwhile', async () => {
    const server = new FakeServer();
    await server.connection.list();
    const lists: (() => void)[] = [];
    server.list = () =>
      new Promise((resolve) => {
        lists.push(() => resolve({ tools: server.tools }));
      });
    server.opened[0]?.onListChanged();
    const context = toolContext();
    const ended = messageOf(server.call('echo', context));
    const calls = [server.call(), server.call()];
    await settle();
    expect(lists).to.have.length(1);
    context.abort();
    expect(await ended).to.contain('the MCP server "fake"');
    server.opened[0]?.onListChanged();
    calls.push(server.call());
    await settle();
    expect(lists).to.have.length(2);
    for (const answer of lists) answer();
    expect(await Promise.all(calls)).to.deep.equal([ANSWER, ANSWER, ANSWER]);
  });

  it('says that the folder is missing in which a server shall start, and not its program', async () => {
    const server = new FakeServer({ ...CONFIG, cwd: '/no/such/folder' });
    server.open = () => Promise.reject(Object.assign(new Error('spawn fake ENOENT'), { code: 'ENOENT' }));
    expect(await messageOf(server.connection.list())).to.equal(
      'cannot list the tools of the MCP server "fake": there is no folder "/no/such/folder": create it, or write another "cwd"',
    );
  });

  it('has at most 16 calls in flight', async () => {
    const server = new FakeServer();
    const release = deferred<void>();
    server.answer = async () => {
      await release.promise;
      return ANSWER;
    };
    const calls = Array.from({ length: 40 }, () => server.call());
    await settle();
    expect(server.called).to.have.length(16);
    release.resolve();
    await Promise.all(calls);
    expect(server.called).to.have.length(40);
  });

  it('has calls of a tenant in flight although another has 16, and lets waiting tenants take turns (D25)', async () => {
    const server = new FakeServer();
    const answers: (() => void)[] = [];
    const asked: string[] = [];
    server.answer = (_name, { tenant }) =>
      new Promise((resolve) => {
        asked.push(String(tenant));
        answers.push(() => resolve(ANSWER));
      });
    const callAs = (tenant_id: string): Promise<RemoteResult> =>
      server.connection.call(
        'echo',
        { tenant: tenant_id },
        { ...toolContext(), tenant_id, clock: server.clock },
      );
    const calls = Array.from({ length: 40 }, () => callAs('greedy'));
    await settle();
    calls.push(...Array.from({ length: 4 }, () => callAs('modest')));
    await settle();
    expect(asked.filter((tenant) => tenant === 'greedy')).to.have.length(16);
    // A tenth of 16.
    expect(asked.filter((tenant) => tenant === 'modest')).to.have.length(2);
    asked.length = 0;
    for (let answer = answers.shift(); answer !== undefined; answer = answers.shift()) {
      answer();
      await settle();
    }
    await Promise.all(calls);
    expect(asked.slice(0, 4)).to.have.members(['greedy', 'modest', 'greedy', 'modest']);
  });

  it('hides configured values in errors, and shows the last words of a server that ended (D61)', async () => {
    const server = new FakeServer();
    server.open = ({ onStderr }) => {
      onStderr('bad key sk-very-secret');
      return Promise.reject(Object.assign(new Error('closed'), { kind: 'closed' }));
    };
    expect(await messageOf(server.connection.list())).to.equal(
      'cannot list the tools of the MCP server "fake": "fake" ended before it had answered in MCP; ' +
        'see whether "command" and "args" start an MCP server (its last words: bad key ***)',
    );
  });

  it('hides the values of variables in answers, progress, errors and descriptions (D61)', async () => {
    const key = 'tok/en 12345';
    const server = new FakeServer({
      kind: 'stdio',
      name: 'fake',
      command: 'fake',
      args: ['--key', key],
      env: { MODE: 'verbosely' },
      cwd: '/',
      hidden: [key],
    });
    const encoded = encodeURIComponent(key);
    server.tools = [{ ...tool('echo'), description: `uses ${key}` }];
    expect((await server.connection.list()).tools[0]).to.deep.equal({
      ...tool('echo'),
      description: 'uses ***',
    });
    server.answer = (_name, _args, { onProgress }) => {
      onProgress?.(`asked with ${key} verbosely`);
      const structuredContent = { [key]: [`http://x/?key=${encoded}`, 1, null], mode: 'verbosely' };
      return Promise.resolve({ content: [{ type: 'text', text: `my key is ${key}` }], structuredContent });
    };
    const context = toolContext();
    expect(await server.call('echo', context)).to.deep.equal({
      content: [{ type: 'text', text: 'my key is ***' }],
      structuredContent: { '***': ['http://x/?key=***', 1, null], mode: 'verbosely' },
    });
    expect(context.logs).to.deep.equal(['asked with *** ***']);
    server.answer = () => Promise.reject(new Error(`no access with ${key}`));
    expect(await messageOf(server.call())).to.equal('the MCP server "fake": no access with ***');
  });

  it('hides keys that are configured as they are in answers, and no other values', async () => {
    const server = new FakeServer({
      kind: 'http',
      name: 'fake',
      url: 'http://127.0.0.1/',
      headers: { authorization: 'Bearer abcd-1234', accept: 'application/json' },
    });
    server.answer = () =>
      Promise.resolve({ content: [{ type: 'text', text: 'application/json for abcd-1234' }] });
    expect((await server.call()).content[0]?.['text']).to.equal('application/json for ***');
  });

  it('says what is wrong with a command, a folder or rights, and what to write', async () => {
    const start = (code: string, changes: object): Promise<string> => {
      const connection = new McpConnection(
        { ...CONFIG, ...changes },
        {
          clock: new ManualClock(),
          version: '1',
          openSession: () => Promise.reject(Object.assign(new Error('spawn'), { code, kind: 'other' })),
        },
      );
      return messageOf(connection.list());
    };
    expect(await start('ENOENT', {})).to.contain('there is no program "fake": install it');
    expect(await start('ENOENT', { command: 'npx -y x' })).to.contain('"command": "npx", "args": ["-y","x"]');
    expect(await start('ENOENT', { cwd: '/no/such' })).to.contain('there is no folder "/no/such"');
    expect(await start('EACCES', {})).to.contain('permission is denied');
  });

  it('ends the server when it is closed, and none that was never started', async () => {
    const server = new FakeServer();
    await server.call();
    await server.connection.close();
    expect(server.closed).to.equal(1);
    const other = new FakeServer();
    await other.connection.close();
    expect(other.opened).to.have.length(0);
  });
});
