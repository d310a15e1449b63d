import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../lib/common/clock.js';
import { ForkServer } from '../../../lib/common/workers/fork-server.js';
import { ProcessPool } from '../../../lib/common/workers/process-pool.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { catchRejection } from '../../support/rejection.js';
import { isAlive, listWorkers } from './processes.js';

const PROGRAM = 'fork-server-process.cjs';
const FAILURE = 'its process cannot be reached: the process that starts others ended (SIGKILL)';

interface OddRequest {
  readonly does: 'nothing' | 'pid';
}

describe('A ForkServer', () => {
  let launcher: ForkServer;
  let pool: ProcessPool<OddRequest, number>;

  before(() => requireBuild());

  beforeEach(() => {
    launcher = new ForkServer(join(ROOT, 'dist', PROGRAM));
    pool = new ProcessPool({
      file: join(ROOT, 'spec/common/workers/odd-process.cjs'),
      memoryMiB: 256,
      clock: systemClock,
      atWork: { total: 2 },
      maxProcesses: 2,
      isolateTenants: true,
      launcher,
    });
  });

  afterEach(async () => {
    await pool.close();
    await launcher.close();
  });

  function ask(does: OddRequest['does'], onStart?: () => void): Promise<number> {
    return pool.run('alice', () => ({ does }), { timeoutMs: 60_000, ...(onStart && { onStart }) });
  }

  async function findPid(): Promise<number> {
    const [pid = expect.fail('there is no fork server')] = await listWorkers(process.pid, PROGRAM);
    return pid;
  }

  it('forks the processes, so that the memory of the server is not copied', async () => {
    const worker = await ask('pid');
    expect(await listWorkers(process.pid, 'odd-process.cjs')).to.deep.equal([]);
    expect(await listWorkers(await findPid(), 'odd-process.cjs')).to.include(worker);
  });

  it('is started once, however many processes it forks', async () => {
    const pids = await Promise.all([ask('pid'), ask('pid'), ask('pid')]);
    expect(new Set(pids).size).to.equal(2);
    expect(await listWorkers(process.pid, PROGRAM)).to.have.length(1);
  });

  it('has nothing of the environment of the server', async function () {
    if (process.platform !== 'linux') this.skip();
    const variables = readFileSync(`/proc/${await findPid()}/environ`, 'utf8').split('\0');
    // Node.js itself adds the variables of its channel.
    expect(variables.filter((variable) => !variable.startsWith('NODE_CHANNEL_'))).to.deep.equal(['']);
  });

  it('that dies fails what is at work, ends its processes, and is started again for the next request', async () => {
    const worker = await ask('pid');
    const died = await findPid();
    let response: Promise<unknown> | undefined;
    await new Promise<void>((resolve) => {
      response = catchRejection(ask('nothing', resolve));
    });
    process.kill(died, 'SIGKILL');
    expect(await response).to.have.property('message', FAILURE);
    while (await isAlive(worker));
    expect(await ask('pid')).not.to.equal(worker);
    expect(await findPid()).not.to.equal(died);
  });

  it('that dies before it has forked a process fails its request, and never lets it wait', async () => {
    const pid = await findPid();
    // A stopped fork server forks nothing, however fast the machine is.
    process.kill(pid, 'SIGSTOP');
    const asked = catchRejection(ask('pid'));
    process.kill(pid, 'SIGKILL');
    expect(await asked).to.have.property('message', FAILURE);
    expect(await ask('pid')).to.be.a('number');
  });

  it('that cannot start fails requests with words', async () => {
    const missing = new ForkServer(join(ROOT, 'dist', 'no-such-process.cjs'));
    const other = new ProcessPool<OddRequest, number>({
      file: join(ROOT, 'spec/common/workers/odd-process.cjs'),
      memoryMiB: 256,
      clock: systemClock,
      atWork: { total: 1 },
      maxProcesses: 1,
      isolateTenants: false,
      launcher: missing,
    });
    try {
      for (const _ of [1, 2]) {
        const error = await catchRejection(
          other.run('alice', () => ({ does: 'pid' }), { timeoutMs: 60_000 }),
        );
        expect(error)
          .to.have.property('message')
          .that.contains('its process cannot be reached: the process that starts others ended');
      }
    } finally {
      await other.close();
      await missing.close();
    }
  });

  it('ends its processes when it is closed', async () => {
    const worker = await ask('pid');
    const forkServer = await findPid();
    await launcher.close();
    expect(await isAlive(forkServer)).to.equal(false);
    while (await isAlive(worker));
  });
});
