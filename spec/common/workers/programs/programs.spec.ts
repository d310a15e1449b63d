import { expect } from 'chai';
import { getPriority } from 'node:os';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ForkServer } from '../../../../lib/common/workers/fork-server.js';
import { directPrograms } from '../../../../lib/common/workers/programs/direct-programs.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { catchRejection } from '../../../support/rejection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { isAlive, listWorkers, waitForSessionPriority } from '../processes.js';
import { program, programSuite, readLine, START_ANOTHER } from './program-suite.js';

const FORK_SERVER = 'fork-server-process.cjs';
const WAIT = 'process.stdin.resume(); console.log("runs")';

describe('A program that this process forks', () => {
  programSuite(() => directPrograms);
});

describe('A program that a ForkServer starts', () => {
  const folder = new TemporaryFolder();
  const { TMPDIR } = process.env;
  let server: ForkServer;

  before(() => requireBuild());

  beforeEach(() => {
    process.env['TMPDIR'] = folder.path;
    server = new ForkServer(join(ROOT, 'dist', FORK_SERVER));
  });

  afterEach(async () => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
    await server.close();
    // The addresses of the sockets were there for a moment.
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  after(() => folder.remove());

  async function findForkServer(): Promise<number> {
    const [pid = expect.fail('there is no fork server')] = await listWorkers(process.pid, FORK_SERVER);
    return pid;
  }

  programSuite(() => server.programs);

  it('is no child of this process, which forks nothing for it', async function () {
    if (process.platform !== 'linux') this.skip();
    const children = (): string[] =>
      readdirSync('/proc/self/task').map((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8'));
    const before = children();
    const started = await server.programs.start(program(WAIT));
    const during = children();
    started.stdin.end();
    await readLine(started);
    started.stderr.resume();
    await started.closed;
    expect(during.join('')).to.equal(before.join(''));
  });

  it('leaves the processor to this process while processors are short', async () => {
    const started = await server.programs.start(
      program(`process.stdin.once('data', () => console.log(require('node:os').getPriority()))`),
    );
    started.stdin.end('now');
    expect(Number(await readLine(started))).to.be.greaterThan(getPriority());
    started.stderr.resume();
    await started.closed;
  });

  it('has a session that leaves the processors to that of this process', async () => {
    const started = await server.programs.start(program(WAIT));
    await readLine(started);
    await waitForSessionPriority(started.pid, 5);
    started.stdin.end();
    started.stderr.resume();
    await started.closed;
  });

  it('has ended with an unknown status when the ForkServer dies, and so has its group; the next one starts', async () => {
    const started = await server.programs.start(program(`${START_ANOTHER} setInterval(() => {}, 1000)`));
    started.stderr.resume();
    const other = Number(await readLine(started));
    process.kill(await findForkServer(), 'SIGKILL');
    expect(await started.exited).to.deep.equal({ error: 'the process that starts others ended (SIGKILL)' });
    await started.closed;
    for (const pid of [started.pid, other]) while (await isAlive(pid));
    const next = await server.programs.start(program('console.log("next")'));
    expect(await text(next.stdout)).to.equal('next\n');
  });

  it('is not started when the ForkServer dies before, or was closed', async () => {
    const pid = await findForkServer();
    process.kill(pid, 'SIGSTOP');
    const starting = catchRejection(server.programs.start(program(WAIT)));
    process.kill(pid, 'SIGKILL');
    expect(await starting).to.have.property('message', 'the process that starts others ended (SIGKILL)');
    await server.close();
    expect(await catchRejection(server.programs.start(program(WAIT)))).to.have.property(
      'message',
      'the process that starts others has ended',
    );
  });

  it('is forked by this process when there is no place for the address of its sockets', async () => {
    process.env['TMPDIR'] = folder.at('none');
    const started = await server.programs.start(program('console.log(process.ppid)'));
    expect(await text(started.stdout)).to.equal(`${process.pid}\n`);
  });

  it('ends with the ForkServer although it and what it has started ignore SIGTERM', async () => {
    const code = `${START_ANOTHER} process.on('SIGTERM', () => console.log('terminated')); setInterval(() => {}, 1000)`;
    const started = await server.programs.start({ ...program(code), graceMs: 3000 });
    started.stderr.resume();
    let output = '';
    const onText = (read: string): void => {
      output = read;
    };
    const other = Number(await readLine(started, onText));
    await server.close();
    await started.closed;
    expect(output).to.equal(`${other}\nterminated\n`);
    for (const pid of [started.pid, other]) while (await isAlive(pid));
  });

  it('ends with the ForkServer though this process has not received its streams', async () => {
    const file = folder.at('started');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(file)}, ''); setInterval(() => {}, 1000)`;
    const starting = catchRejection(server.programs.start({ ...program(code), graceMs: 50 }));
    // This process receives nothing meanwhile.
    while (!existsSync(file));
    rmSync(file);
    await server.close();
    expect(await starting)
      .to.have.property('message')
      .that.contains('the process that starts others ended');
  });

  it('does not run, or reads the end of its input, when the ForkServer is closed while it starts', async () => {
    const starting = server.programs.start(program(WAIT));
    await Promise.all([server.close(), starting.then(readLine, () => undefined)]);
  });
});
