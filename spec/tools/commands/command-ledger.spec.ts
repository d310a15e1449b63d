import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { endLeftCommands, ledgerIn } from '../../../lib/tools/commands/command-ledger.js';
import { isAlive } from '../../common/workers/processes.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

const OWNER = { runId: 'run-1', taskId: 'deploy' };

describe('The ledger of commands (D88)', () => {
  const folder = useTemporaryFolder();
  const path = (): string => folder.at('commands');

  /** Starts a process, with what a command must see. */
  async function start(environment: Readonly<Record<string, string>>, script = 'echo runs; sleep 600') {
    const child = spawn('sh', ['-c', script], {
      env: { PATH: '/usr/bin:/bin', ...environment },
      detached: true,
    });
    await once(child.stdout, 'data');
    return child;
  }

  async function endLeft(): Promise<string[]> {
    const log: string[] = [];
    await endLeftCommands(path(), (message) => log.push(message));
    return log;
  }

  it('forgets a command that has ended', async () => {
    const entry = await ledgerIn(path()).open(OWNER);
    expect(readdirSync(path())).to.have.length(1);
    await entry.ended();
    expect(readdirSync(path())).to.deep.equal([]);
    expect(await endLeft()).to.deep.equal([]);
  });

  it('says nothing where there was never a command', async () => {
    expect(await endLeft()).to.deep.equal([]);
  });

  it('ends all processes of a command that was left, also one that has left its group', async function () {
    if (process.platform !== 'linux') this.skip();
    const entry = await ledgerIn(path()).open(OWNER);
    const leader = await start(entry.environment);
    const other = await start(entry.environment, 'trap "" TERM; echo runs; sleep 600; true');
    expect(await endLeft()).to.deep.equal([
      'ended the command of task "deploy" of run run-1, which was left at work',
    ]);
    for (const { pid = 0 } of [leader, other]) while (await isAlive(pid));
    expect(readdirSync(path())).to.deep.equal([]);
  });

  it('ends no other process: neither one without the mark, nor one with the mark of another ledger', async function () {
    if (process.platform !== 'linux') this.skip();
    await ledgerIn(path()).open(OWNER);
    const foreign = await ledgerIn(folder.at('other')).open(OWNER);
    const children = [await start({}), await start(foreign.environment)];
    expect(await endLeft()).to.deep.equal([]);
    for (const child of children) {
      expect(await isAlive(child.pid ?? 0)).to.equal(true);
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    }
  });

  it('reads a file that was not written to its end', async function () {
    if (process.platform !== 'linux') this.skip();
    const entry = await ledgerIn(path()).open(OWNER);
    const [mark = ''] = readdirSync(path());
    folder.write(`commands/${mark}`, '{"run');
    const child = await start(entry.environment);
    expect(await endLeft()).to.deep.equal([
      'ended the command of task "unknown" of run unknown, which was left at work',
    ]);
    while (await isAlive(child.pid ?? 0));
  });
});
