import { expect } from 'chai';
import { text } from 'node:stream/consumers';
import type {
  ProgramLauncher,
  StartedProgram,
} from '../../../../lib/common/workers/programs/program-launcher.js';
import { catchRejection } from '../../../support/rejection.js';
import { isAlive } from '../processes.js';

/** A program that does as the code says, in JavaScript. */
export function program(code: string, more: { readonly env?: Record<string, string>; cwd?: string } = {}) {
  return { command: process.execPath, args: ['-e', code], env: {}, cwd: '/', graceMs: 1000, ...more };
}

/** Starts a process in the same group, which ignores SIGTERM and holds no stream, and writes its id as a line. */
export const START_ANOTHER = `
  const stubborn = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(process.pid)';
  const other = require('node:child_process').spawn(process.execPath, ['-e', stubborn], { stdio: ['ignore', 'pipe', 'ignore'] });
  other.stdout.once('data', (pid) => process.stdout.write(pid));`;

/** Reads what a program writes, and returns its first line. @param onText receives all of it */
export function readLine({ stdout }: StartedProgram, onText?: (text: string) => void): Promise<string> {
  return new Promise((resolve) => {
    let read = '';
    stdout.on('data', (chunk) => {
      read += String(chunk);
      onText?.(read);
      if (read.includes('\n')) resolve(read.slice(0, read.indexOf('\n')));
    });
  });
}

/** The requirements on everything that starts programs. Declares specs. */
export function programSuite(launcher: () => ProgramLauncher): void {
  const start = (...options: Parameters<typeof program>): Promise<StartedProgram> =>
    launcher().start(program(...options));

  /** The output of a program until it ended, and how it ended. */
  async function run(code: string, input = '') {
    const started = await start(code);
    started.stdin.on('error', () => undefined).end(input);
    const [stdout, stderr] = await Promise.all([text(started.stdout), text(started.stderr)]);
    await started.closed;
    return { stdout, stderr, exit: await started.exited };
  }

  it('gives the program three streams', async () => {
    const code = `process.stdin.once('data', (data) => {
      process.stdout.write('out ' + data);
      process.stderr.write('err ' + data, () => process.exit());
    })`;
    expect(await run(code, 'hello')).to.deep.equal({
      stdout: 'out hello',
      stderr: 'err hello',
      exit: { status: 0, signal: null },
    });
  });

  it('lets the program read the end of its input, and write after it', async () => {
    const code = `process.stdin.resume().once('end', () => setImmediate(() => console.log('ended')))`;
    expect(await run(code)).to.include({ stdout: 'ended\n' });
  });

  it('ends the output of a program that has closed it and goes on', async () => {
    const code = `require('node:fs').closeSync(1); process.stdin.resume().once('end', () => process.exit(4))`;
    const { stdin, stdout, stderr, exited } = await start(code);
    stderr.resume();
    expect(await text(stdout)).to.equal('');
    stdin.end();
    expect(await exited).to.deep.equal({ status: 4, signal: null });
  });

  it('hands over all that a program writes that ends at once: 1 MiB, and its last words', async () => {
    const code = `process.stdout.write(Buffer.alloc(2 ** 20, 'x')); process.stderr.write('last words'); process.exitCode = 3`;
    const { stdout, stderr, exit } = await run(code);
    expect(stdout).to.equal('x'.repeat(2 ** 20));
    expect(stderr).to.equal('last words');
    expect(exit).to.deep.equal({ status: 3, signal: null });
  });

  it('lets a program wait that writes what nobody reads, and loses nothing of it', async () => {
    const size = 8 * 2 ** 20;
    const started = await start(`
      process.stdin.once('data', () => process.stderr.write('asked'));
      process.stdout.write(Buffer.alloc(${size}, 'x'), () => process.exit())`);
    started.stdin.write('?');
    await new Promise((resolve) => started.stderr.once('data', resolve));
    expect(started.stdout.readableLength).to.be.below(size / 8);
    expect(await text(started.stdout)).to.have.length(size);
  });

  it('knows the exit status of the program, and the signal that has ended it', async () => {
    expect((await run('process.exit(7)')).exit).to.deep.equal({ status: 7, signal: null });
    expect((await run("process.kill(process.pid, 'SIGTERM')")).exit).to.deep.equal({
      status: null,
      signal: 'SIGTERM',
    });
  });

  it('fails what is written to a program that has ended', async () => {
    const { stdin, stdout, stderr, closed } = await start('process.exit()');
    stdout.resume();
    stderr.resume();
    stdin.on('error', () => undefined);
    await closed;
    const error = await new Promise((resolve) => stdin.write('x', resolve));
    expect(error)
      .to.have.property('code')
      .that.is.oneOf(['EPIPE', 'ECONNRESET', 'ECANCELED', 'ERR_STREAM_DESTROYED']);
  });

  it('rejects as Node.js does for a program or a folder that is not there', async () => {
    for (const missing of [{ command: 'no-such-program' }, { cwd: '/no-such-folder' }]) {
      const wanted = { ...program(''), ...missing };
      expect(await catchRejection(launcher().start(wanted))).to.include({
        code: 'ENOENT',
        message: `spawn ${wanted.command} ENOENT`,
      });
    }
  });

  it('rejects for what no program can be started with, and for what is no program', async () => {
    const impossible = { ...program(''), args: ['\0'] };
    expect(await catchRejection(launcher().start(impossible))).to.include({ code: 'ERR_INVALID_ARG_VALUE' });
    const refused = { ...program(''), command: '/' };
    expect(await catchRejection(launcher().start(refused))).to.include({ code: 'EACCES' });
  });

  it('gives the program its environment and nothing else, and its folder', async () => {
    const { stdout } = await start('console.log(JSON.stringify([process.env, process.cwd()]))', {
      env: { KEY: 'value' },
      cwd: '/usr',
    });
    expect(JSON.parse(await text(stdout))).to.deep.equal([{ KEY: 'value' }, '/usr']);
  });

  it('finds the program in the PATH of its environment', async () => {
    const wanted = { ...program(''), command: 'sh', args: ['-c', 'echo found'], env: { PATH: '/bin' } };
    const { stdout } = await launcher().start(wanted);
    expect(await text(stdout)).to.equal('found\n');
  });

  it('gives the program no socket but its streams, and each of them is another one', async function () {
    if (process.platform !== 'linux') this.skip();
    const { stdout } = await run(`const { readdirSync, readlinkSync } = require('node:fs');
      for (const fd of readdirSync('/proc/self/fd')) try { console.log(fd, readlinkSync('/proc/self/fd/' + fd)) } catch {}`);
    const sockets = stdout.split('\n').filter((line) => line.includes('socket:'));
    expect(sockets.map((line) => line.split(' ')[0])).to.deep.equal(['0', '1', '2']);
    expect(new Set(sockets.map((line) => line.split(' ')[1])).size).to.equal(3);
  });

  it('signals what the program has started, too', async () => {
    const started = await start(`${START_ANOTHER} process.stdin.resume()`);
    const other = Number(await readLine(started));
    started.signal('SIGKILL');
    expect(await started.exited).to.deep.equal({ status: null, signal: 'SIGKILL' });
    while (await isAlive(other));
    // The number of the process may be that of another program by now.
    started.signal('SIGKILL');
  });

  it('ends what the program has started when the program has ended', async () => {
    const started = await start(`${START_ANOTHER} process.stdin.once('data', () => process.exit())`);
    const other = Number(await readLine(started));
    started.stdin.write('go');
    await started.exited;
    while (await isAlive(other));
  });

  it('starts programs at the same time, and mixes up none of their streams', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `program ${index}`);
    const outputs = await Promise.all(
      names.map((name) => run('process.stdin.pipe(process.stdout).on("finish", () => {})', name)),
    );
    expect(outputs.map(({ stdout }) => stdout)).to.deep.equal(names);
  });
}
