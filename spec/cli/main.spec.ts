import { expect } from 'chai';
import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { COMMANDS } from '../../lib/cli/commands/index.js';
import { readPackageJson } from '../../lib/cli/package-info.js';
import { invoke, Screen } from './invoke.js';

describe('wavetrain', () => {
  it('without a command, and with --help, -h and help, prints help with every command', async () => {
    const { status, stdout, stderr } = await invoke([]);
    expect(status).to.equal(0);
    expect(stderr).to.equal('');
    for (const { usage, paths } of COMMANDS) if (usage) expect(stdout).to.contain(paths?.[0]?.join(' '));
    for (const words of [['--help'], ['-h'], ['help']]) expect((await invoke(words)).stdout).to.equal(stdout);
  });

  it('prints its version with --version', async () => {
    expect(await invoke(['--version'])).to.deep.equal({
      status: 0,
      stdout: `${readPackageJson().version}\n`,
      stderr: '',
    });
  });

  for (const { usage, paths } of COMMANDS) {
    if (usage === undefined) continue;
    const path = paths?.[0] ?? [];
    it(`${path.join(' ')} --help prints usage, options and examples`, async () => {
      const { status, stdout } = await invoke([...path, '--help']);
      expect(status).to.equal(0);
      expect(stdout).to.contain(`Usage\n  wavetrain ${path.join(' ')}`);
      expect(stdout)
        .to.contain(`Examples\n`)
        .and.to.match(/^ {2}.*wavetrain /m);
      expect(stdout).not.to.match(/#\d/, 'a value without a name');
      expect((await invoke(['help', ...path])).stdout).to.equal(stdout);
      expect((await invoke([...path, '-h'])).stdout).to.equal(stdout);
    });

    it(`${path.join(' ')} --help lists the flags that commands share last, in one order`, async () => {
      const { stdout } = await invoke([...path, '--help']);
      const [options = ''] = stdout.split(/\n(?:Details|Examples)\n/);
      const flags = Array.from(options.matchAll(/^ {2}(-[\w-]+)/gm), ([, flag]) => flag);
      const shared = ['--server', '--store', '--tools', '--mcp', '--env-file'].filter((flag) =>
        flags.includes(flag),
      );
      expect(flags.slice(flags.length - shared.length)).to.deep.equal(shared);
    });
  }

  it('run --help lists every flag of the specification', async () => {
    const { stdout } = await invoke(['run', '--help']);
    const flags = ['--inputs', '--params', '--json', '--timeout', '--concurrency', '--jitter'];
    for (const flag of flags)
      expect(stdout).to.match(new RegExp(`^  ${flag} *(JSON|DURATION|N|FRACTION)?  `, 'm'));
  });

  it('help has descriptions below the names where fewer than 20 columns remain beside them, and loses no word', async () => {
    const words = (text: string): string[] => stripVTControlCharacters(text).split(/[\s#]+/);
    for (const path of [[], ['runs'], ...COMMANDS.flatMap(({ usage, paths = [] }) => (usage ? paths : []))]) {
      const wide = await invoke([...path, '--help']);
      const { stdout } = await invoke([...path, '--help'], { stdout: new Screen(34) });
      expect(words(stdout), path.join(' ')).to.deep.equal(words(wide.stdout));
      for (const line of stripVTControlCharacters(stdout).split('\n')) {
        // Commands are not wrapped, so that they can be copied.
        if (!/^ {2}.*\bwavetrain \w/.test(line)) expect(line.length, line).to.be.below(34);
      }
    }
    const { stdout } = await invoke(['run', '--help'], { stdout: new Screen(34), env: { NO_COLOR: '1' } });
    expect(stdout).to.contain('\n  --tenant ID\n      namespace on the\n      blackboard; default\n');
  });

  it('runs rerun --help says what --from does with and without changes, and no default of run (D60)', async () => {
    const help = async (words: string[]): Promise<string> =>
      (await invoke([...words, '--help'])).stdout.replaceAll(/\s+/g, ' ');
    const rerun = await help(['runs', 'rerun']);
    expect(rerun)
      .to.contain(
        'Without --from everything runs again, or with changes (by --file, --params and the other options)',
      )
      .and.to.contain(
        '--timeout DURATION time limit of each attempt of a task without a timeout; default: as in the',
      )
      .and.to.contain('absent ones are as in the earlier run')
      .and.not.to.match(/default (?:0|4|1|unlimited)\b|by default there is none|keep their default/);
    expect(await help(['run'])).to.match(/default 0\.5 /);
  });

  for (const words of [['serve'], ['runs', 'rerun']]) {
    it(`${words.join(' ')} --help says that a server reads its tool files again when they change`, async () => {
      const { stdout } = await invoke([...words, '--help']);
      expect(stdout.replaceAll(/\s+/g, ' ')).to.match(/server reads its .*tool.* again when they change/);
    });
  }

  it('run --help says which runs can be looked at and rerun (D60)', async () => {
    const { stdout } = await invoke(['run', '--help']);
    expect(stdout.replaceAll(/\s+/g, ' ')).to.contain(
      'wavetrain runs list and runs show look at them, and wavetrain rerun goes on from where a run failed',
    );
  });

  it('wraps help to the width of the terminal', async () => {
    const { stdout } = await invoke(['run', '--help'], { stdout: new Screen(60) });
    const prose = stripVTControlCharacters(stdout.slice(0, stdout.indexOf('Examples')));
    for (const line of prose.split('\n')) expect(line.length).to.be.at.most(60);
  });

  describe('with an invalid command line', () => {
    const MISTAKES: [argv: string[], message: RegExp, hint: RegExp][] = [
      [['valdate', 'x'], /there is no command "valdate"/, /did you mean wavetrain validate\?/],
      [['val'], /there is no command "val"/, /did you mean wavetrain validate\?/],
      [['frobnicate'], /there is no command "frobnicate"/, /the commands are init, validate, run/],
      [['submit', 'x'], /there is no command "submit"/, /did you mean wavetrain runs submit\?/],
      [['watch', 'x'], /there is no command "watch"/, /did you mean wavetrain runs watch\?/],
      [['show', 'x'], /there is no command "show"/, /did you mean wavetrain runs show\?/],
      [['cancel', 'x'], /there is no command "cancel"/, /did you mean wavetrain runs cancel\?/],
      [['list'], /there is no command "list"/, /did you mean wavetrain runs list\?/],
      [['delet', 'x'], /there is no command "delet"/, /did you mean wavetrain runs delete\?/],
      [['help', 'rn'], /there is no command "rn"/, /did you mean wavetrain run\?/],
      [['run', 'x', '--timeot', '3'], /run has no option --timeot/, /did you mean --timeout\?/],
      [['run', 'x', '--paralel', '3'], /run has no option --paralel/, /did you mean --concurrency\?/],
      [['run', 'x', '--set', 'a=1'], /run has no option --set/, /did you mean --params\?/],
      [['validate', 'x', '--workers', '3'], /validate has no option --workers/, /wavetrain validate --help/],
      [['run', 'x', '--frobnicate'], /run has no option --frobnicate/, /wavetrain run --help/],
      [['run', 'x', '--timeout'], /--timeout needs a value/, /wavetrain run --help/],
      [['run', 'x', '--timeout', '-1'], /--timeout needs a value/, /write --timeout=-1/],
      [['run', 'x', '--json=yes'], /--json takes no value/, /wavetrain run FILE/],
      [['run'], /run needs FILE/, /wavetrain run FILE/],
      [['run', 'x', 'y'], /unexpected argument "y"/, /wavetrain run FILE/],
      [['schema'], /"schema" needs a subcommand/, /wavetrain schema pipeline/],
      [['schema', 'task'], /"schema" has no subcommand "task"/, /wavetrain schema pipeline or plan/],
      [['--frobnicate'], /there is no option --frobnicate/, /wavetrain --help/],
      [['--timeout', '3'], /--timeout must come after the command/, /wavetrain run FILE --timeout/],
    ];
    for (const [argv, message, hint] of MISTAKES) {
      it(`exits with 2 and a hint for "${argv.join(' ')}" (D40)`, async () => {
        const { status, stdout, stderr } = await invoke(argv);
        expect(status).to.equal(2);
        expect(stdout).to.equal('');
        expect(stderr).to.match(message).and.to.match(hint);
        expect(stderr).not.to.contain('    at ');
      });
    }
  });

  describe('with a bug in Wavetrain', () => {
    const openCatalog = () => Promise.reject(new TypeError('x is not a function'));

    it('reports it without a stack and exits with 70', async () => {
      const { status, stdout, stderr } = await invoke(['tools'], { openCatalog });
      expect(status).to.equal(70);
      expect(stdout).to.equal('');
      expect(stderr).to.contain('x is not a function').and.to.contain('a bug in Wavetrain');
      expect(stderr).not.to.contain('    at ');
    });

    it('prints the stack with WAVETRAIN_DEBUG', async () => {
      const { stderr } = await invoke(['tools'], { openCatalog, env: { WAVETRAIN_DEBUG: '1' } });
      expect(stderr).to.contain('    at ');
    });
  });

  describe('when standard output is not read to the end', () => {
    it('exits quietly when the reader has closed the pipe, as with | head', async () => {
      const { status, stderr } = await invoke(['tools'], { stdout: broken('EPIPE') });
      expect(status).to.equal(0);
      expect(stderr).to.equal('');
    });

    it('exits with 3 when the disk is full', async () => {
      const { status, stderr } = await invoke(['tools'], { stdout: broken('ENOSPC') });
      expect(status).to.equal(3);
      expect(stderr).to.contain('cannot write to standard output').and.to.contain('ENOSPC');
    });

    it('exits with 3 when standard error is full too, and the run makes no pause', async () => {
      const input = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}]\n';
      const streams = { stdout: broken('ENOSPC'), stderr: broken('ENOSPC') };
      for (const flags of [['--json'], ['--json', '--verbose'], ['--json', '--quiet'], []]) {
        expect(await invoke(['run', '-', ...flags], { input, ...streams })).to.include({ status: 3 });
      }
    });

    it('waits for a slow reader', async () => {
      let taken = '';
      const slow = new Writable({
        highWaterMark: 1,
        write: (chunk: Buffer, _, done) => {
          setImmediate(() => {
            taken += chunk.toString('utf8');
            done();
          });
        },
      });
      await invoke(['tools', '--json'], { stdout: slow });
      expect(() => JSON.parse(taken)).not.to.throw();
    });

    function broken(code: string): Writable {
      return new Writable({
        write: (_, __, done) => done(Object.assign(new Error(`write ${code}`), { code })),
      });
    }
  });

  describe('colours (D41)', () => {
    const COLOUR = '\u001b[';

    it('are not printed to a file or pipe', async () => {
      expect((await invoke(['--help'])).stdout).not.to.contain(COLOUR);
      expect((await invoke(['rn'])).stderr).not.to.contain(COLOUR);
    });

    it('are printed on a terminal', async () => {
      expect((await invoke(['--help'], { stdout: new Screen() })).stdout).to.contain(COLOUR);
    });

    it('are not printed with NO_COLOR, FORCE_COLOR=0 or TERM=dumb', async () => {
      for (const env of [
        { NO_COLOR: '1' },
        { NO_COLOR: '1', FORCE_COLOR: '1' },
        { FORCE_COLOR: '0' },
        { TERM: 'dumb' },
      ]) {
        const { stdout } = await invoke(['--help'], { stdout: new Screen(), env });
        expect(stdout).not.to.contain(COLOUR);
      }
    });

    it('are printed to a pipe with FORCE_COLOR', async () => {
      expect((await invoke(['--help'], { env: { FORCE_COLOR: '1' } })).stdout).to.contain(COLOUR);
    });
  });
});
