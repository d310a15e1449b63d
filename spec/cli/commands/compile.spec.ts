import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { BROKEN, VALID } from '../../compile/definitions.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type Invocation, invoke, type InvokeOptions, Screen } from '../invoke.js';

describe('compile (D43)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  /** Compiles with recorded answers to `ask`. */
  function run(
    argv: readonly string[],
    answers: readonly string[],
    options: InvokeOptions = {},
  ): Promise<Invocation> {
    const lines = answers.map((text) => JSON.stringify({ prompt: 'ask', text }));
    folder.write('answers.jsonl', lines.join('\n'));
    const env = { WAVETRAIN_MODEL: 'mock/recorded' };
    return invoke(['compile', ...argv], { env, cwd: folder.path, ...options });
  }

  it('prints a comment with kind, id and repairs, and the YAML', async () => {
    expect(await run(['ask'], [VALID])).to.deep.equal({
      status: 0,
      stdout: `# pipeline ask, no repairs\n${VALID}`,
      stderr: '',
    });
    expect((await run(['ask'], [BROKEN, VALID])).stdout).to.equal(`# pipeline ask, 1 repair\n${VALID}`);
  });

  it('prints with --verbose what was wrong with each answer that was sent back, and the tokens (D40)', async () => {
    const { status, stdout, stderr } = await run(['ask', '--verbose'], [BROKEN, VALID]);
    expect({ status, stdout }).to.deep.equal({ status: 0, stdout: `# pipeline ask, 1 repair\n${VALID}` });
    expect(stderr)
      .to.contain('answer 1 was sent back:\n  line 6, column 13: there is no tool "lm_job"')
      .and.match(/^mock\/recorded: 2 requests, [\d,]+ input tokens, [\d,]+ output tokens$/m);
    const failed = await run(['ask', '--verbose', '--max-repairs', '0'], [BROKEN]);
    expect(failed.status).to.equal(1);
    expect(failed.stderr).to.contain('mock/recorded: 1 request,');
  });

  it('prints the YAML alone with --json, and writes it with --output too (D41)', async () => {
    const both = await run(['ask', '--json', '--output', 'out.yaml'], [VALID]);
    expect(both).to.deep.equal({ status: 0, stdout: VALID, stderr: '' });
    expect(readFileSync(folder.at('out.yaml'), 'utf8')).to.equal(VALID);
    const one = await run(['ask', '--output', 'other.yaml'], [VALID]);
    expect(one.stdout).to.equal('pipeline ask, no repairs: written to other.yaml\n');
    expect(readFileSync(folder.at('other.yaml'), 'utf8')).to.equal(VALID);
  });

  it('reads the description from a file, or from standard input', async () => {
    folder.write('prompt.txt', '\n ask\n');
    expect((await run(['--prompt-file', 'prompt.txt'], [VALID])).status).to.equal(0);
    expect((await run(['--prompt-file', '-'], [VALID], { input: 'ask' })).status).to.equal(0);
  });

  it('exits with 1, the attempts, the error and the last answer when the model gave up (D40)', async () => {
    const { status, stdout, stderr } = await run(['ask', '--max-repairs', '0'], [BROKEN]);
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr)
      .to.contain('no valid pipeline in one attempt: line 6, column 13: there is no tool "lm_job"')
      .and.to.contain(`the last answer:\n${BROKEN}`);
    const json = await run(['ask', '--max-repairs', '0', '--json'], [BROKEN]);
    expect(json.stdout).to.equal('');
    expect(json.stderr).not.to.contain('the last answer');
  });

  it('exits with 2 for no description, two, an empty one, a wrong number, and a folder that is not there', async () => {
    const wrong: [readonly string[], RegExp][] = [
      [[], /needs a description/],
      [['ask', '--prompt-file', 'x'], /two descriptions/],
      [[' '], /is empty/],
      [['ask', '--max-repairs', '6'], /from 0 to 5/],
      [['ask', '--max-repairs', 'two'], /whole number/],
      [['ask', '--output', 'no/where.yaml'], /there is no folder/],
      [['ask', '--output', '/dev/null'], /it is not a regular file/],
      [['ask', '--model', 'openai/x'], /OPENAI_API_KEY/],
      [['x'.repeat(20_001)], /the limit is 20,000/],
      [['--prompt-file', 'none.txt'], /cannot read/],
    ];
    for (const [argv, message] of wrong) {
      const { status, stdout, stderr } = await run(argv, [VALID]);
      expect({ status, stdout }, stderr).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(message);
    }
  });

  it('explains a command line that the shell or a typing mistake has broken (D40)', async () => {
    const wrong: [string[], string][] = [
      [
        ['summarise', 'the', "firm's", 'file'],
        "put the description in quotes\n  as in wavetrain compile 'summarise the firm'\\''s file'",
      ],
      [['sum', 'up', '--output', 'x.yaml'], "as in wavetrain compile 'sum up'"],
      [['--model', 'mock/recorded', 'sum', 'up'], "as in wavetrain compile 'sum up'"],
      [['ask', '--modle', 'mock/recorded'], 'compile has no option --modle\n  did you mean --model?'],
      [['ask', '--json=yes'], '--json takes no value'],
      [['ask', '--model'], '--model needs a value'],
      [['ask', '--wat'], 'compile has no option --wat\n  wavetrain compile --help lists the options'],
    ];
    for (const [argv, words] of wrong) {
      const { status, stdout, stderr } = await run(argv, [VALID]);
      expect({ status, stdout }, stderr).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.contain(words);
    }
  });

  it('counts no repair of an answer that the model has only made worse', async () => {
    const doubtful = VALID.replace('{prompt: hi}', '{prompt: "${{session.x ?? 1}}"}');
    const { stdout } = await run(['ask', '--max-repairs', '1'], [doubtful, BROKEN]);
    expect(stdout).to.match(/^# pipeline ask, no repairs\n/);
  });

  it('prints warnings on standard error', async () => {
    const { status, stderr } = await run(['ask'], [VALID.replace('prompt: hi', 'prompt: "{{session.x}}"')]);
    expect(status).to.equal(0);
    expect(stderr).to.match(/^warning: line 7/);
  });

  it('says on a terminal what it is doing, and clears the line', async () => {
    const screen = new Screen();
    await run(['ask'], [BROKEN, VALID], {
      stderr: screen,
      env: { WAVETRAIN_MODEL: 'mock/recorded', TERM: 'xterm' },
    });
    expect(screen.text)
      .to.contain('writes a draft (answer 1)')
      .and.to.contain('repairs its answer (answer 2)')
      .and.to.satisfy((text: string) => text.endsWith('\r\u001B[K'));
  });

  it('exits with 130 when it is interrupted (D40)', async () => {
    const processEvents = new EventEmitter();
    const pending = run(['ask'], [VALID], { processEvents });
    processEvents.emit('SIGINT');
    expect((await pending).status).to.equal(130);
  });
});
