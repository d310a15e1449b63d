import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../lib/common/clock.js';
import { errorMessage } from '../../../lib/common/errors.js';
import { AllowedCommands } from '../../../lib/common/config/allowed-commands.js';
import { ForkServer } from '../../../lib/common/workers/fork-server.js';
import { type CommandAccessOptions, commandAccess } from '../../../lib/tools/commands/command-access.js';
import type { CommandCaller } from '../../../lib/tools/commands/command-caller.js';
import { COMMAND_LIMITS, type ToolCommand } from '../../../lib/tools/commands/command.js';
import type { ArtifactContent } from '../../../lib/tools/files/artifacts.js';
import { isAlive } from '../../common/workers/processes.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

/** An attempt that starts commands, with what it receives. */
class Attempt {
  readonly logs: string[] = [];
  readonly files: ArtifactContent[] = [];
  readonly controller = new AbortController();
  held = 0;
  readonly #waiters: { readonly text: string; readonly resolve: (line: string) => void }[] = [];

  caller(more: Partial<CommandCaller> = {}): CommandCaller {
    return {
      tenantId: 'acme',
      runId: 'run',
      taskId: 'task',
      clock: systemClock,
      signal: this.controller.signal,
      pauseTimeout: () => () => undefined,
      holdMemory: (bytes) => {
        this.held += bytes;
      },
      log: (line) => {
        this.logs.push(line);
        for (const { text, resolve } of this.#waiters) if (line.includes(text)) resolve(line);
      },
      masker: { mask: (text: string) => text, find: () => [], longest: 0, longestWithBreak: 0 },
      writeFile: async ({ name, bytes, media_type }) => {
        const pieces = typeof bytes === 'string' || bytes instanceof Uint8Array ? [bytes] : bytes;
        let content = '';
        for await (const piece of pieces) content += Buffer.from(piece).toString();
        this.files.push({ name, media_type, bytes: content });
        return { name, path: name, media_type, size: content.length };
      },
      ...more,
    };
  }

  /** Resolves with the first line from now on that contains a text. */
  logged(text: string): Promise<string> {
    return new Promise((resolve) => this.#waiters.push({ text, resolve }));
  }
}

const sh = (script: string, more: Partial<ToolCommand> = {}): ToolCommand => ({
  argv: ['sh', '-c', script],
  ...more,
});

const messageOf = async (rejected: Promise<unknown>): Promise<string> =>
  errorMessage(await catchRejection(rejected));

describe('Commands of tasks (D88)', () => {
  const folder = useTemporaryFolder();
  let attempt: Attempt;

  beforeEach(() => {
    attempt = new Attempt();
  });

  const access = (options: CommandAccessOptions = {}) =>
    commandAccess({ allowed: AllowedCommands.all, folder: folder.path, ...options });

  const run = (command: ToolCommand, options?: CommandAccessOptions, more?: Partial<CommandCaller>) =>
    access(options).run(command, attempt.caller(more));

  it('give their output, log both streams, and know how they have ended', async () => {
    const result = await run(sh('echo out; echo err >&2; exit 3', { successCodes: [0, 3] }));
    expect(result).to.deep.include({
      status: 3,
      signal: null,
      succeeded: true,
      stdout: 'out\n',
      cut: undefined,
    });
    expect(attempt.logs.toSorted()).to.deep.equal(['err', 'out']);
    expect(result.lastLines.toSorted()).to.deep.equal(['err', 'out']);
    expect((await run(sh('exit 4'))).succeeded).to.equal(false);
    expect(await run(sh('kill -9 $$'))).to.deep.include({
      status: null,
      signal: 'SIGKILL',
      succeeded: false,
    });
  });

  it('read standard input to its end, and need not read it', async () => {
    const input = 'line\n'.repeat(50_000);
    expect((await run(sh('wc -l', { stdin: input }))).stdout.trim()).to.equal('50000');
    expect((await run(sh('exit 0', { stdin: input }))).succeeded).to.equal(true);
    expect((await run({ argv: ['cat'] })).stdout).to.equal('');
  });

  it('see PATH, HOME, LANG and what is named, and nothing else of the environment', async () => {
    const env = { PATH: process.env['PATH'], HOME: '/home/of/user', LANG: 'C', API_KEY: 'secret' };
    const { stdout } = await run({ argv: ['env'], env: { A: '1', LANG: 'de' } }, { env });
    expect(stdout.trim().split('\n').toSorted()).to.deep.equal([
      'A=1',
      'HOME=/home/of/user',
      'LANG=de',
      `PATH=${env.PATH}`,
    ]);
  });

  it('start in the folder of the definition, or in the one that they name', async () => {
    expect((await run({ argv: ['pwd'] })).stdout.trim()).to.equal(folder.path);
    folder.write('sub/file', '');
    expect((await run({ argv: ['pwd'], cwd: 'sub' })).stdout.trim()).to.equal(folder.at('sub'));
    expect((await run({ argv: ['pwd'], cwd: '/' })).stdout.trim()).to.equal('/');
    const message = await messageOf(run({ argv: ['pwd'], cwd: 'none' }));
    expect(message).to.contain(`"pwd" cannot be started in ${folder.at('none')}`);
  });

  it('have a folder of their own where nobody names one, which is removed', async () => {
    const commands = () => readdirSync(tmpdir()).filter((name) => name.startsWith('wavetrain-command-'));
    const before = commands();
    const { stdout } = await run(sh('touch file; pwd'), { folder: undefined });
    expect(stdout).to.contain('wavetrain-command-');
    expect(existsSync(stdout.trim())).to.equal(false);
    expect(commands()).to.have.length.at.most(before.length);
  });

  it('are not started unless somebody has allowed them', async () => {
    for (const allowed of [
      AllowedCommands.none,
      AllowedCommands.of(['git']),
      AllowedCommands.parse('beta:*'),
    ]) {
      const error = await catchRejection(run(sh('touch started'), { allowed, advice: 'ask somebody' }));
      expect(errorMessage(error)).to.match(/^"sh" may not be started \(.*\): ask somebody$/);
      expect(error).to.have.property('retryable', false);
    }
    expect(await catchRejection(commandAccess().run(sh('touch started'), attempt.caller()))).to.be.instanceOf(
      Error,
    );
    expect(existsSync(folder.at('started'))).to.equal(false);
  });

  it('take no variables by which an allowed program would run others, unless all are allowed', async () => {
    const allowed = AllowedCommands.of(['env']);
    for (const name of [
      'PATH',
      'LD_PRELOAD',
      'BASH_ENV',
      'NODE_OPTIONS',
      'PYTHONPATH',
      'GIT_SSH_COMMAND',
      'HOME',
    ])
      expect(await messageOf(run({ argv: ['env'], env: { [name]: '/x' } }, { allowed }))).to.contain(
        `"env": ${name} could make`,
      );
    expect((await run({ argv: ['env'], env: { NAME: 'x' } }, { allowed })).stdout).to.contain('NAME=x');
    expect((await run({ argv: ['/usr/bin/env'], env: { PYTHONPATH: '/x' } })).stdout).to.contain(
      'PYTHONPATH=/x',
    );
  });

  it('end although a process that has left their group holds their output', async () => {
    const clock = new ManualClock();
    const line = attempt.logged('away');
    const left = folder.at('left');
    // The program ends when the other process has left its group, which is ended then.
    const script = `setsid sh -c 'echo away $$; : > ${left}; sleep 600' & while [ ! -e ${left} ]; do sleep 0.01; done`;
    const ended = run(sh(script), {}, { clock });
    const pid = Number((await line).split(' ')[1]);
    const settled = ended.then(() => true);
    while (!(await Promise.race([settled, isAlive(pid).then(() => false)])))
      clock.advance(COMMAND_LIMITS.graceMs);
    process.kill(pid, 'SIGKILL');
  });

  it('say why a program cannot be started', async () => {
    expect(await messageOf(run({ argv: ['no-such-program'] }))).to.contain('there is no such program');
    expect(await messageOf(run({ argv: [folder.path] }))).to.contain(
      'not a program that this user may start',
    );
    const long = { argv: ['true', 'x'.repeat(2 ** 20)] } as const;
    expect(await messageOf(run(long))).to.contain('"stdin"');
  });

  it('keep a bounded part of a large output, and say how much was cut', async () => {
    const mebibytes = COMMAND_LIMITS.outputBytes / 2 ** 20;
    const result = await run(
      sh(`head -c ${COMMAND_LIMITS.outputBytes + 3 * 2 ** 20} /dev/zero | tr '\\0' x`),
    );
    expect(result.stdout).to.have.length(COMMAND_LIMITS.outputBytes);
    expect(result.cut).to.equal('3 MiB');
    expect(attempt.held).to.equal(COMMAND_LIMITS.outputBytes);
    expect(attempt.logs.at(-1)).to.equal(`… ${mebibytes + 2} MiB more were not logged`);
  });

  it('end when the run has no memory for their output', async () => {
    const holdMemory = (): void => {
      throw new Error('no memory left');
    };
    expect(await messageOf(run(sh('yes'), {}, { holdMemory }))).to.equal('no memory left');
  });

  const STUBBORN = `trap '' TERM; sleep 600 & echo "child $!"; echo "self $$"; while true; do wait; done`;

  for (const where of ['this process', 'a ForkServer'] as const) {
    describe(`that ${where} starts`, () => {
      let server: ForkServer | undefined;
      const programs = () => {
        if (where === 'this process') return {};
        server ??= new ForkServer(join(ROOT, 'dist/fork-server-process.cjs'));
        return { programs: server.programs };
      };

      before(() => requireBuild());

      after(() => server?.close());

      /** Starts a command that ignores SIGTERM and has started another one; returns both. */
      async function startStubborn(commands = access(programs()), more?: Partial<CommandCaller>) {
        const lines = Promise.all([attempt.logged('child'), attempt.logged('self')]);
        const ended = commands.run(sh(STUBBORN), attempt.caller(more));
        const settled = ended.then(
          (result) => result.signal ?? String(result.status),
          (error: Error) => error.message,
        );
        const pids = (await lines).map((line) => Number(line.split(' ')[1]));
        return { pids, settled };
      }

      it('end with all that they have started when their attempt is over, also those that ignore SIGTERM', async () => {
        const { pids, settled } = await startStubborn();
        attempt.controller.abort(new Error('timed out'));
        expect(await settled).to.equal('SIGKILL');
        for (const pid of pids) while (await isAlive(pid));
      });

      it('have a second between SIGTERM and SIGKILL', async () => {
        const clock = new ManualClock();
        const { pids, settled } = await startStubborn(undefined, { clock });
        attempt.controller.abort();
        clock.advance(COMMAND_LIMITS.graceMs - 1);
        expect(await Promise.all(pids.map(isAlive))).to.deep.equal([true, true]);
        clock.advance(1);
        expect(await settled).to.equal('SIGKILL');
        for (const pid of pids) while (await isAlive(pid));
      });

      it('end before the process that has started them is closed', async () => {
        const commands = access(programs());
        const { pids, settled } = await startStubborn(commands);
        await commands.close();
        for (const pid of pids) expect(await isAlive(pid)).to.equal(false);
        expect(await settled).to.equal('SIGKILL');
      });

      it('leave nothing at work that they have started in the background', async () => {
        const line = attempt.logged('child');
        const { succeeded } = await run(sh('sleep 600 >/dev/null 2>&1 & echo "child $!"'), programs());
        expect(succeeded).to.equal(true);
        const pid = Number((await line).split(' ')[1]);
        while (await isAlive(pid));
      });
    });
  }

  it('wait for each other beyond a number, fairly between tenants, and the time limit of a waiting one stands still', async () => {
    const commands = access({ atWork: { total: 1 } });
    let paused = 0;
    const blocker = new AbortController();
    const blocked = new Attempt();
    const begun = blocked.logged('begun');
    const long = commands.run(sh('echo begun; sleep 600'), blocked.caller({ signal: blocker.signal }));
    await begun;
    const pauseTimeout = () => {
      paused++;
      return () => {
        paused--;
      };
    };
    const second = commands.run(sh('echo second'), attempt.caller({ pauseTimeout, tenantId: 'beta' }));
    expect(paused).to.equal(1);
    const waiting = new AbortController();
    const third = catchRejection(commands.run(sh('true'), attempt.caller({ signal: waiting.signal })));
    waiting.abort();
    expect(errorMessage(await third)).to.equal('the command was stopped');
    blocker.abort();
    await long;
    expect((await second).stdout).to.equal('second\n');
    expect(paused).to.equal(0);
  });

  describe('publish files', () => {
    const names = () => attempt.files.map(({ name }) => name);

    it('that match their patterns when they have succeeded', async () => {
      const script =
        'mkdir -p out/deep; echo 1 > out/b.csv; echo 2 > out/a.csv; echo 3 > out/deep/c.csv; echo 4 > top.txt';
      await run(sh(script, { files: ['out/*.csv', 'top.txt', 'out/**/*.csv'] }));
      expect(names()).to.deep.equal(['a.csv', 'b.csv', 'top.txt', 'c.csv']);
      expect(attempt.files[0]).to.deep.include({ media_type: 'text/csv', bytes: '2\n' });
      expect(attempt.files[2]).to.include({ media_type: 'text/plain' });
    });

    it('not after a failure', async () => {
      await run(sh('echo 1 > a.csv; exit 1', { files: ['*.csv'] }));
      expect(names()).to.deep.equal([]);
    });

    for (const [pattern, message] of [
      ['*.csv', '"files": no file of the command matches *.csv'],
      ['../*.csv', '"files": a pattern must be a path below the folder'],
      ['/etc/passwd', '"files": a pattern must be a path below the folder'],
      ['a/../../b', '"files": a pattern must be a path below the folder'],
      ['none/*.csv', 'cannot read the folder'],
      ['none.csv', 'cannot read "none.csv"'],
    ] as const) {
      it(`not for ${pattern}, and say so`, async () => {
        expect(await messageOf(run(sh('true', { files: [pattern] })))).to.contain(message);
      });
    }

    it('not of a folder to which "cwd" leads out', async () => {
      const elsewhere = folder.write('elsewhere/secret.csv', 'secret');
      folder.write('inside/own.csv', 'own');
      const inside = { folder: folder.at('inside') };
      for (const cwd of [dirname(elsewhere), '..', '../elsewhere'])
        expect(await messageOf(run(sh('true', { cwd, files: ['*.csv'] }), inside))).to.contain(
          '"cwd" leads out',
        );
      expect(names()).to.deep.equal([]);
    });

    it('within a time that grows with their patterns and names, and not beyond', async () => {
      folder.write('a'.repeat(120), '');
      const pattern = `${'*a'.repeat(40)}*b`;
      expect(await messageOf(run(sh('true', { files: [pattern] })))).to.contain(
        'no file of the command matches',
      );
    });

    it('not through symbolic links, of files or of folders', async () => {
      folder.write('outside/secret.csv', 'secret');
      folder.write('inside/own.csv', 'own');
      symlinkSync(folder.at('outside/secret.csv'), folder.at('inside/link.csv'));
      symlinkSync(folder.at('outside'), folder.at('inside/linked'));
      const inside = { folder: folder.at('inside') };
      await run(sh('true', { files: ['**/*.csv'] }), inside);
      expect(names()).to.deep.equal(['own.csv']);
      for (const pattern of ['link.csv', 'linked/secret.csv', 'linked/*.csv'])
        expect(await catchRejection(run(sh('true', { files: [pattern] }), inside)), pattern).to.be.instanceOf(
          Error,
        );
      expect(names()).to.deep.equal(['own.csv']);
    });
  });

  it('are given a program of its folder only by a path', async () => {
    folder.write('tool.sh', '#!/bin/sh\necho mine');
    await run({ argv: ['chmod', '+x', 'tool.sh'] });
    expect((await run({ argv: ['./tool.sh'] })).stdout).to.equal('mine\n');
    expect(readFileSync(folder.at('tool.sh'), 'utf8')).to.contain('mine');
    expect(await messageOf(run({ argv: ['tool.sh'] }))).to.contain('there is no such program');
  });
});
