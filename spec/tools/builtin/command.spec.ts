import { expect } from 'chai';
import { errorMessage } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json/json.js';
import { command } from '../../../lib/tools/builtin/command.js';
import type { CommandResult, ToolCommand } from '../../../lib/tools/commands/command.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { catchRejection } from '../../support/rejection.js';
import { toolContext } from '../../support/tool-context.js';

const ENDED: CommandResult = {
  status: 0,
  signal: null,
  succeeded: true,
  stdout: '',
  cut: undefined,
  lastLines: [],
};

/** Calls the tool, and returns the command that it has started with its output. */
async function call(inputs: Record<string, Json>, result: Partial<CommandResult> = {}) {
  const started: ToolCommand[] = [];
  const context = toolContext({
    command: (line) => {
      started.push(line);
      return Promise.resolve({ ...ENDED, ...result });
    },
  });
  const validated = validateInputs(command, inputs);
  if (!validated.ok) throw new Error(validated.errors.join(', '));
  const output: unknown = await command.run(validated.inputs, context);
  return { output, started: started[0] };
}

const errorOf = async (inputs: Record<string, Json>, result?: Partial<CommandResult>): Promise<string> =>
  errorMessage(await catchRejection(call(inputs, result)));

describe('The tool command (D88)', () => {
  it('starts a program with its arguments, numbers and truth values as text', async () => {
    const { started } = await call({ run: ['git', 'log', '-n', 3, true, '$HOME; ls'] });
    expect(started).to.deep.include({
      argv: ['git', 'log', '-n', '3', 'true', '$HOME; ls'],
      env: {},
      stdin: '',
    });
  });

  for (const [shell, argv] of [
    [undefined, ['bash', '-c', 'x']],
    ['sh', ['sh', '-c', 'x']],
    ['python3', ['python3', '-c', 'x']],
    ['node', ['node', '-e', 'x']],
  ] as const) {
    it(`gives a script to ${shell ?? 'bash, unless a shell is named'}`, async () => {
      const { started } = await call({ script: 'x', ...(shell !== undefined && { shell }) });
      expect(started?.argv).to.deep.equal(argv);
    });
  }

  it('writes values to the environment and to standard input, those that are no text as JSON', async () => {
    const { started } = await call({
      run: ['x'],
      env: { A: 'a', N: 1, L: [1, 'b'], NONE: null },
      stdin: { a: [1] },
    });
    expect(started).to.deep.include({ env: { A: 'a', N: '1', L: '[1,"b"]' }, stdin: '{"a":[1]}' });
    expect((await call({ run: ['x'], stdin: 'text' })).started?.stdin).to.equal('text');
  });

  for (const [output, stdout, value] of [
    ['text', ' a\nb\n', ' a\nb'],
    ['text', 'a\n\n', 'a\n'],
    ['lines', 'a\r\nb\n', ['a', 'b']],
    ['lines', '', []],
    ['lines', '\n', ['']],
    ['json', '{"a": [1, 2.5]}\n', { a: [1, 2.5] }],
  ] as const) {
    it(`reads ${JSON.stringify(stdout)} as ${output}`, async () => {
      expect((await call({ run: ['x'], output }, { stdout })).output).to.deep.equal(value);
    });
  }

  it('says how a program has ended that has failed, and its last lines', async () => {
    const failed = { succeeded: false, status: 3, lastLines: ['one', 'two'] };
    expect(await errorOf({ run: ['git'] }, failed)).to.equal(
      'git ended with status 3; the last lines were:\none\ntwo',
    );
    const silent = { succeeded: false, status: 1 };
    expect(await errorOf({ run: ['git'] }, silent)).to.equal('git ended with status 1; it wrote nothing');
    const killed = { succeeded: false, status: null, signal: 'SIGKILL' };
    expect(await errorOf({ run: ['git'] }, killed)).to.equal('git was ended by SIGKILL; it wrote nothing');
  });

  it('says what is wrong with output that is no JSON, or that is cut', async () => {
    expect(await errorOf({ run: ['x'], output: 'json' }, { stdout: 'oops\n' })).to.match(
      /^its output is no JSON: .*oops/s,
    );
    expect(await errorOf({ run: ['x'], output: 'json' }, { stdout: '' })).to.contain('nothing');
    for (const output of ['json', 'lines'])
      expect(await errorOf({ run: ['x'], output }, { stdout: '[1', cut: '2 MiB' })).to.contain(
        'by 2 MiB: let it write a file',
      );
    expect((await call({ run: ['x'] }, { stdout: 'abc', cut: '2 MiB' })).output).to.equal(
      'abc\n… 2 MiB more were cut',
    );
  });

  for (const [inputs, message] of [
    [{}, 'give exactly one of "run" and "script": neither is given'],
    [{ run: ['a'], script: 'b' }, 'both are given'],
    [{ run: [''] }, '"run" must begin with the name of a program'],
    [{ run: ['a', 'b\0c'] }, 'no argument may have a NUL'],
    [{ run: ['a'], env: { 'A=B': 'c' } }, '"A=B" cannot be the name of a variable'],
    [{ run: ['a'], env: { A: 'a\0b' } }, 'a NUL'],
    [
      { run: ['a'], env: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`V${n}`, 1])) },
      'more than 200 variables',
    ],
  ] as const) {
    it(`refuses ${JSON.stringify(inputs).slice(0, 60)}`, async () => {
      expect(await errorOf(inputs as unknown as Record<string, Json>)).to.contain(message);
    });
  }

  it('is called again after a crash only where its task says so', () => {
    const { repeatable } = command;
    expect(
      typeof repeatable === 'function' &&
        [{}, { repeatable: true }, { repeatable: '{{params.x}}' }].map(repeatable),
    ).to.deep.equal([false, true, false]);
  });
});
