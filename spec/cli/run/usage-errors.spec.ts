import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';
import { GREET, NAME } from '../../support/definitions/greet.js';

describe('run, usage errors', () => {
  const folder = new TemporaryFolder();
  before(() => folder.write('greet.yaml', GREET));
  after(() => folder.remove());

  const at = (argv: readonly string[], options = {}) => invoke(argv, { cwd: folder.path, ...options });

  describe('exits with 2 and an example for the flags (D40)', () => {
    const MISTAKES: [flags: string[], message: RegExp][] = [
      [
        ['--timeout', 'soon'],
        /--timeout must be a number above 0 \(seconds, or as in 5m\), not "soon"\n.*--timeout 30/,
      ],
      [['--timeout', '0'], /--timeout must be a number above 0/],
      [['--concurrency', '0'], /--concurrency must be a whole number of at least 1.*\n.*--concurrency 8/],
      [['--jitter', '1.5'], /--jitter must be a number from 0 to 1.*\n.*--jitter 0\.2/],
      [['--retry-base-delay=-1'], /--retry-base-delay must be a number of at least 0/],
      [['--max-retry-delay', 'x'], /--max-retry-delay must be/],
      [['--params', '{"name": }'], /--params is not JSON: found "}" at line 1, column 10/],
      [['--inputs', '[]'], /--inputs must be a JSON object, not a list/],
      [['--session', '@none.json'], /cannot read the --session file none\.json/],
      [['--session-file', 'none.json'], /cannot read the --session-file file none\.json/],
      [['--env-file', 'none.env'], /cannot read the --env-file none\.env/],
      [['--tenant', ''], /--tenant must not be empty/],
      [['--plan-concurrency', '2'], /--plan-concurrency is for plans/],
      [['--plan-concurrency', '0'], /--plan-concurrency must be a whole number of at least 1/],
      [['--tools', './none.ts'], /cannot load tools from "\.\/none\.ts"/],
      [['--events', '-'], /--events takes a file/],
      [
        ['--events', './greet.yaml'],
        /--events would overwrite greet\.yaml, which .*: \.\/greet\.yaml is the same file/,
      ],
      [
        ['--events', 'none/events.jsonl'],
        /cannot write the --events file none\/events\.jsonl: the folder none does not exist\n/,
      ],
      [['--events', 'greet.yaml/e.jsonl'], /cannot write the .*: greet\.yaml is not a folder\n/],
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

    it('exits with 2 for an invalid environment variable', async () => {
      const { status, stderr } = await at(['run', 'greet.yaml', ...NAME], {
        env: { SERVICE_FILE_ROOTS: '~/data' },
      });
      expect(status).to.equal(2);
      expect(stderr).to.contain('SERVICE_FILE_ROOTS');
    });
  });

  describe('exits with 2 for bad params, before any task starts (D40)', () => {
    it('lists each missing param with type and description, and how to pass them', async () => {
      const input = GREET.replace(', default: 2', '');
      const { status, stdout, stderr } = await at(['run', '-', '--events', 'never.jsonl'], { input });
      expect(status).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr).to.contain('name (string, required): Whom to greet');
      expect(stderr).to.contain('times (integer, required): How often');
      expect(stderr).to.contain(`wavetrain run - --params '{"name":"text","times":3}'`);
      expect(() => readFileSync(folder.at('never.jsonl'))).to.throw();
    });

    it('lists all unknown params and those of the wrong type', async () => {
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
