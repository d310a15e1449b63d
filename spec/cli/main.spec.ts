import { expect } from 'chai';
import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { COMMANDS } from '../../lib/cli/commands/index.js';
import { packageFacts } from '../../lib/cli/package-info.js';
import { systemServices } from '../../lib/cli/context.js';
import { invoke, Screen } from './invoke.js';

describe('the command line', () => {
  it('shows help with every command when nothing is asked, and with --help, -h and help', async () => {
    const { status, stdout, stderr } = await invoke([]);
    expect(status).to.equal(0);
    expect(stderr).to.equal('');
    for (const { usage, paths } of COMMANDS) if (usage) expect(stdout).to.contain(paths?.[0]?.join(' '));
    for (const words of [['--help'], ['-h'], ['help']]) expect((await invoke(words)).stdout).to.equal(stdout);
  });

  it('prints its version', async () => {
    expect(await invoke(['--version'])).to.deep.equal({
      status: 0,
      stdout: `${packageFacts().version}\n`,
      stderr: '',
    });
  });

  for (const { usage, paths } of COMMANDS) {
    if (usage === undefined) continue;
    const path = paths?.[0] ?? [];
    it(`explains ${path.join(' ')} with its usage, every option and examples`, async () => {
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
  }

  it('names every flag of the specification in the help of run', async () => {
    const { stdout } = await invoke(['run', '--help']);
    const flags = ['--inputs', '--params', '--json', '--timeout', '--concurrency', '--jitter'];
    for (const flag of flags)
      expect(stdout).to.match(new RegExp(`^  ${flag} *(JSON|SECONDS|N|FRACTION)?  `, 'm'));
  });

  it('breaks help to the width of the terminal', async () => {
    const { stdout } = await invoke(['run', '--help'], { stdout: new Screen(60) });
    const prose = stripVTControlCharacters(stdout.slice(0, stdout.indexOf('Examples')));
    for (const line of prose.split('\n')) expect(line.length).to.be.at.most(60);
  });

  describe('that is not understood', () => {
    const MISTAKES: [argv: string[], message: RegExp, hint: RegExp][] = [
      [['valdate', 'x'], /there is no command "valdate"/, /did you mean wavetrain validate\?/],
      [['val'], /there is no command "val"/, /did you mean wavetrain validate\?/],
      [['frobnicate'], /there is no command "frobnicate"/, /the commands are init, validate, run/],
      [['help', 'rn'], /there is no command "rn"/, /did you mean wavetrain run\?/],
      [['run', 'x', '--timeot', '3'], /run has no option --timeot/, /did you mean --timeout\?/],
      [['run', 'x', '--frobnicate'], /run has no option --frobnicate/, /wavetrain run --help/],
      [['run', 'x', '--timeout'], /--timeout needs a value/, /wavetrain run --help/],
      [['run', 'x', '--timeout', '-1'], /--timeout needs a value/, /write --timeout=-1/],
      [['run', 'x', '--json=yes'], /--json takes no value/, /wavetrain run FILE/],
      [['run'], /run needs FILE/, /wavetrain run FILE/],
      [['run', 'x', 'y'], /run does not know what to do with "y"/, /wavetrain run FILE/],
      [['schema'], /"schema" wants one word more/, /wavetrain schema pipeline/],
      [['schema', 'task'], /"schema" knows no "task"/, /wavetrain schema pipeline or plan/],
      [['--frobnicate'], /there is no option --frobnicate/, /wavetrain --help/],
      [['--timeout', '3'], /the command comes first, then --timeout/, /wavetrain run FILE --timeout/],
    ];
    for (const [argv, message, hint] of MISTAKES) {
      it(`answers 2 to "${argv.join(' ')}" and says what to write (D40)`, async () => {
        const { status, stdout, stderr } = await invoke(argv);
        expect(status).to.equal(2);
        expect(stdout).to.equal('');
        expect(stderr).to.match(message).and.to.match(hint);
        expect(stderr).not.to.contain('    at ');
      });
    }
  });

  describe('when something breaks inside', () => {
    const services = {
      ...systemServices,
      catalog: () => Promise.reject(new TypeError('x is not a function')),
    };

    it('says so without a stack, and answers 70', async () => {
      const { status, stdout, stderr } = await invoke(['tools'], { services });
      expect(status).to.equal(70);
      expect(stdout).to.equal('');
      expect(stderr).to.contain('x is not a function').and.to.contain('a fault in Wavetrain itself');
      expect(stderr).not.to.contain('    at ');
    });

    it('shows the stack to those who ask with WAVETRAIN_DEBUG', async () => {
      const { stderr } = await invoke(['tools'], { services, env: { WAVETRAIN_DEBUG: '1' } });
      expect(stderr).to.contain('    at ');
    });
  });

  describe('whose output nobody reads', () => {
    it('ends quietly when the reader has gone, as with | head', async () => {
      const { status, stderr } = await invoke(['tools'], { stdout: broken('EPIPE') });
      expect(status).to.equal(0);
      expect(stderr).to.equal('');
    });

    it('does not answer 0 when the disk is full', async () => {
      const { status, stderr } = await invoke(['tools'], { stdout: broken('ENOSPC') });
      expect(status).to.equal(3);
      expect(stderr).to.contain('cannot write to standard output').and.to.contain('ENOSPC');
    });

    it('is not left behind by a reader that is slow', async () => {
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

  describe('and colours (D41)', () => {
    const COLOUR = '\u001b[';

    it('are left out off a terminal', async () => {
      expect((await invoke(['--help'])).stdout).not.to.contain(COLOUR);
      expect((await invoke(['rn'])).stderr).not.to.contain(COLOUR);
    });

    it('are shown on a terminal', async () => {
      expect((await invoke(['--help'], { stdout: new Screen() })).stdout).to.contain(COLOUR);
    });

    it('are left out on a terminal with NO_COLOR, and on a dumb one', async () => {
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

    it('are shown in a pipe with FORCE_COLOR', async () => {
      expect((await invoke(['--help'], { env: { FORCE_COLOR: '1' } })).stdout).to.contain(COLOUR);
    });
  });
});
