import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';
import { GREET, NAME } from './greet.js';

describe('run, misused', () => {
  let folder: TemporaryFolder;
  before(() => {
    folder = new TemporaryFolder();
    folder.write('greet.yaml', GREET);
  });
  after(() => folder.remove());

  const at = (argv: readonly string[], surroundings = {}) =>
    invoke(argv, { cwd: folder.path, ...surroundings });

  describe('with bad flags answers 2, says what was wrong and gives an example (D40)', () => {
    const MISTAKES: [flags: string[], message: RegExp][] = [
      [['--timeout', 'soon'], /--timeout takes a number above 0 \(seconds\), not "soon"\n.*--timeout 30/],
      [['--timeout', '0'], /--timeout takes a number above 0/],
      [['--concurrency', '0'], /--concurrency takes a whole number of at least 1.*\n.*--concurrency 8/],
      [['--jitter', '1.5'], /--jitter takes a number from 0 to 1.*\n.*--jitter 0\.2/],
      [['--retry-base-delay=-1'], /--retry-base-delay takes a number of at least 0/],
      [['--max-retry-delay', 'x'], /--max-retry-delay takes/],
      [['--params', '{"name": }'], /--params is not JSON: found "}" at line 1, column 10/],
      [['--inputs', '[]'], /--inputs takes a JSON object, not a list/],
      [['--session', '@none.json'], /cannot read the --session file none\.json/],
      [['--session-file', 'none.json'], /cannot read the --session-file file none\.json/],
      [['--env-file', 'none.env'], /cannot read the --env-file none\.env/],
      [['--tenant', ''], /--tenant takes a name/],
      [['--plan-concurrency', '2'], /--plan-concurrency is for plans/],
      [['--plan-concurrency', '0'], /--plan-concurrency takes a whole number of at least 1/],
      [['--tools', './none.ts'], /cannot load tools from "\.\/none\.ts"/],
      [['--events', '-'], /--events takes a file/],
      [['--events', './greet.yaml'], /--events would overwrite \.\/greet\.yaml/],
      [
        ['--events', 'none/events.jsonl'],
        /cannot write the --events file none\/events\.jsonl: there is no folder none\n/,
      ],
      [['--events', 'greet.yaml/e.jsonl'], /cannot write the .*: greet\.yaml is no folder\n/],
      [['--inputs', '@-', '--session', '@-'], /standard input can be read only once/],
    ];
    for (const [flags, message] of MISTAKES) {
      it(flags.join(' '), async () => {
        const { status, stdout, stderr } = await at(['run', 'greet.yaml', ...NAME, ...flags]);
        expect(stderr).to.match(message);
        expect(stdout).to.equal('');
        expect(status).to.equal(2);
      });
    }

    it('a variable of the environment that cannot be right', async () => {
      const { status, stderr } = await at(['run', 'greet.yaml', ...NAME], {
        env: { SERVICE_FILE_ROOTS: '~/data' },
      });
      expect(status).to.equal(2);
      expect(stderr).to.contain('SERVICE_FILE_ROOTS');
    });
  });

  describe('with bad params answers 2 before any task starts (D40)', () => {
    it('names every missing one with type and description, and how to give them', async () => {
      const input = GREET.replace(', default: 2', '');
      const { status, stdout, stderr } = await at(['run', '-', '--events', 'never.jsonl'], { input });
      expect(status).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr).to.contain('name (string, required): Whom to greet');
      expect(stderr).to.contain('times (integer, required): How often');
      expect(stderr).to.contain(`wavetrain run - --params '{"name":"text","times":3}'`);
      expect(() => readFileSync(folder.at('never.jsonl'))).to.throw();
    });

    it('names those that are unknown or of the wrong type, all at once', async () => {
      const { status, stderr } = await at([
        'run',
        'greet.yaml',
        '--params',
        '{"nmae": "x", "times": "often"}',
      ]);
      expect(status).to.equal(2);
      expect(stderr).to.contain('3 params cannot be used');
      expect(stderr)
        .to.match(/"nmae".*did you mean "name"/)
        .and.to.match(/"times".*"often"/);
    });
  });
});
