import { expect } from 'chai';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../../../lib/common/clock.js';
import { MCP_LIMITS } from '../../../../lib/common/limits.js';
import { ForkServer } from '../../../../lib/common/workers/fork-server.js';
import { directPrograms } from '../../../../lib/common/workers/programs/direct-programs.js';
import { StdioTransport } from '../../../../lib/tools/mcp/transports/stdio-transport.js';
import { listWorkers } from '../../../common/workers/processes.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { deferred } from '../../../support/deferred.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { catchRejection } from '../../../support/rejection.js';

const FORK_SERVER = 'fork-server-process.cjs';
const REQUEST = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

describe('The transport to an MCP server that another process starts', () => {
  let server: ForkServer;

  before(() => requireBuild());

  beforeEach(() => {
    server = new ForkServer(join(ROOT, 'dist', FORK_SERVER));
  });

  afterEach(() => server.close());

  function create(code: string, { programs = server.programs, clock = systemClock } = {}) {
    const closed = deferred<undefined>();
    const received = deferred<object>();
    const [ended, logged]: [string[], string[]] = [[], []];
    const config = { kind: 'stdio', name: 'x', command: process.execPath, env: {}, cwd: '/' } as const;
    const reports = {
      onStderr: (line: string) => void logged.push(line),
      onStrayLine: () => undefined,
      onExit: (how: string) => void ended.push(how),
      onTooMuch: () => undefined,
    };
    const transport = new StdioTransport({ ...config, args: ['-e', code] }, clock, reports, programs);
    Object.assign(transport, {
      onmessage: (message: object) => received.resolve(message),
      onclose: () => closed.resolve(undefined),
    });
    return { transport, closed: closed.promise, received: received.promise, ended, logged };
  }

  async function findForkServer(): Promise<number> {
    const [pid = expect.fail('there is no fork server')] = await listWorkers(process.pid, FORK_SERVER);
    return pid;
  }

  it('sends, receives, and closes at the end of its standard input', async () => {
    const code = `process.stdin.pipe(process.stdout); process.on('SIGTERM', () => console.error('terminated'));
      process.stdin.on('end', () => console.error('ended'))`;
    const { transport, closed, received, ended, logged } = create(code);
    await transport.start();
    await transport.send(REQUEST);
    expect(await received).to.deep.equal(REQUEST);
    await transport.close();
    await closed;
    expect(logged).to.deep.equal(['ended']);
    expect(ended).to.deep.equal([]);
  });

  it('closes when that process dies, and says so', async () => {
    const { transport, closed, ended } = create('setInterval(() => {}, 1000)');
    await transport.start();
    process.kill(await findForkServer(), 'SIGKILL');
    await closed;
    expect(ended).to.deep.equal(['an unknown status: the process that starts others ended (SIGKILL)']);
  });

  it('does not wait for a start that takes too long when it is closed, and ends what starts then', async () => {
    const pid = await findForkServer();
    process.kill(pid, 'SIGSTOP');
    const clock = new ManualClock();
    const { transport, closed } = create('setInterval(() => {}, 1000)', { clock });
    const started = transport.start();
    const closing = transport.close();
    clock.advance(MCP_LIMITS.closeMs);
    await closing;
    process.kill(pid, 'SIGCONT');
    await started;
    await closed;
    await nextTurn();
    expect(clock.pending).to.equal(0);
  });

  for (const [what, programs] of [
    ['another process', undefined],
    ['this process', directPrograms],
  ] as const) {
    it(`says that a program has ended, whenever it is written to, when ${what} has started it`, async () => {
      const code = 'process.stdin.once("readable", () => process.exit())';
      const { transport, closed } = create(code, { ...(programs && { programs }) });
      await transport.start();
      let error: unknown;
      // Each turn of the event loop, since it ends between two of them.
      while (error === undefined) {
        error = await transport.send(REQUEST).catch((reason: unknown) => reason);
        await nextTurn();
      }
      expect(error).to.have.property('message', 'the program has ended');
      await closed;
      expect(await catchRejection(transport.send(REQUEST))).to.have.property(
        'message',
        'the program has ended',
      );
    });
  }
});
