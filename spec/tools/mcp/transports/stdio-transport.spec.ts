import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MCP_LIMITS } from '../../../../lib/common/limits.js';
import { StdioTransport } from '../../../../lib/tools/mcp/transports/stdio-transport.js';
import { deferred } from '../../../support/deferred.js';
import { ManualClock } from '../../../support/manual-clock.js';

/** Starts a process in a session of its own, which holds the streams of the server, and says its id. */
const LEAVE_A_PROCESS = `
  const { spawn } = require('node:child_process');
  const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'inherit' });
  left.unref();
  process.stderr.write(left.pid + '\\n');
`;

describe('The transport to a started MCP server that has left a process which holds its output', () => {
  let left: number | undefined;

  afterEach(() => {
    if (left !== undefined) process.kill(left, 'SIGKILL');
    left = undefined;
  });

  /** Starts a server, and resolves when the process that it leaves runs. */
  async function start(program: string) {
    const clock = new ManualClock();
    const leaving = deferred<number>();
    const config = { kind: 'stdio', name: 'x', command: process.execPath, env: {}, cwd: '/' } as const;
    const transport = new StdioTransport({ ...config, args: ['-e', `${LEAVE_A_PROCESS}${program}`] }, clock, {
      onStderr: (line) => leaving.resolve(Number(line)),
      onStrayLine: () => undefined,
      onExit: () => undefined,
      onTooMuch: () => undefined,
    });
    let isClosed = false;
    const onclose = (): void => {
      isClosed = true;
    };
    Object.assign(transport, { onclose });
    await transport.start();
    left = await leaving.promise;
    const advanceUntilClosed = async (): Promise<void> => {
      while (!isClosed) {
        clock.advance(MCP_LIMITS.closeMs);
        await nextTurn();
      }
    };
    return { transport, clock, advanceUntilClosed };
  }

  it('notices the end of the server', async () => {
    const { advanceUntilClosed } = await start('process.exitCode = 0;');
    await advanceUntilClosed();
  });

  it('closes, and leaves no timer', async () => {
    const { transport, clock, advanceUntilClosed } = await start('process.stdin.resume();');
    const closed = transport.close();
    await Promise.all([closed, advanceUntilClosed()]);
    await transport.close();
    expect(clock.pending).to.equal(0);
  });
});

describe('A message of a started MCP server that is too large', () => {
  const parts = `[${'[],'.repeat(MCP_LIMITS.messageParts)}[]]`;
  const OTHER = '{"jsonrpc":"2.0","id":8,"result":{}}';

  /** Runs a server that writes lines. Returns what was received until it ended, and how it ended. */
  async function receive(...lines: readonly string[]) {
    const received: object[] = [];
    const ended: string[] = [];
    const closed = deferred<undefined>();
    const program =
      "process.stdin.on('data', (text) => process.stdout.write(text)); process.stdin.on('end', () => process.exit())";
    const config = { kind: 'stdio', name: 'x', command: process.execPath, env: {}, cwd: '/' } as const;
    const transport = new StdioTransport({ ...config, args: ['-e', program] }, new ManualClock(), {
      onStderr: () => undefined,
      onStrayLine: () => undefined,
      onExit: (how) => void ended.push(how),
      onTooMuch: () => undefined,
    });
    Object.assign(transport, {
      onmessage: (message: object) => {
        received.push(message);
        if ('id' in message && message.id === 8) void transport.close();
      },
      onclose: () => closed.resolve(undefined),
    });
    await transport.start();
    // The server sends back what it is sent, which need not be whole messages.
    for (const line of lines) await transport.send(JSON.parse(line) as Parameters<typeof transport.send>[0]);
    await closed.promise;
    return { received, ended };
  }

  for (const [order, line] of [
    ['at its start', `{"jsonrpc":"2.0","id":7,"result":${parts}}`],
    ['at its end', `{"result":${parts},"jsonrpc":"2.0","id":7}`],
  ] as const) {
    it(`fails only the request that it answers, whose id stands ${order}: other tenants use the server`, async () => {
      const { received, ended } = await receive(line, OTHER);
      const [refused, other] = received;
      expect(refused).to.have.nested.property('error.message').that.contains('ask for less at once');
      expect(refused).to.have.property('id', 7);
      expect(other).to.deep.equal(JSON.parse(OTHER));
      expect(ended).to.deep.equal([]);
    });
  }

  it('ends the server when it does not say which request it answers', async () => {
    const { received, ended } = await receive(`{"jsonrpc":"2.0","method":"x","params":{"a":${parts}}}`);
    expect(received).to.deep.equal([]);
    expect(ended).to.deep.equal(['the signal SIGKILL']);
  });
});
