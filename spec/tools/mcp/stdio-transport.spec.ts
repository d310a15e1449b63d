import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MCP_LIMITS } from '../../../lib/common/limits.js';
import { StdioTransport } from '../../../lib/tools/mcp/stdio-transport.js';
import { deferred } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';

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
