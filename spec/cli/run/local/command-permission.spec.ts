import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { systemContext } from '../../../../lib/cli/context.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { invoke, type InvokeOptions, type Invocation, Person, Screen } from '../../invoke.js';

const TOUCH = `pipeline:
  id: touch
  goal: leave a file
  tasks:
    - id: leave
      tool: command
      inputs: {run: [touch, started]}
`;

describe('run of a pipeline that starts programs (D88)', () => {
  const folder = useTemporaryFolder();
  beforeEach(() => folder.write('touch.yaml', TOUCH));

  const hasStarted = (): boolean => existsSync(folder.at('started'));

  function run(flags: readonly string[], options: InvokeOptions = {}): Promise<Invocation> {
    const host = { ...systemContext().host, homeFolder: folder.at('home') };
    return invoke(['run', 'touch.yaml', ...flags], { cwd: folder.path, host, ...options });
  }

  /** Runs it at a terminal at which somebody answers a question. */
  const ask = (answer: string | null, flags: readonly string[] = [], options: InvokeOptions = {}) =>
    run(flags, { stdin: new Person(answer), stderr: new Screen(), ...options });

  it('starts none where nobody has allowed it, and says how to', async () => {
    const { status, stderr } = await run([]);
    expect(stderr).to.equal(
      'wavetrain: task "leave": "touch" may not be started (no program is allowed here); allow it with --allow-commands=NAMES, or --allow-commands for all\n',
    );
    expect(status).to.equal(2);
    expect(hasStarted()).to.equal(false);
  });

  for (const flag of ['--allow-commands', '--allow-commands=touch', '--allow-commands=git,touch']) {
    it(`starts it with ${flag}, in the folder of the file`, async () => {
      const { status } = await run([flag]);
      expect(status).to.equal(0);
      expect(hasStarted()).to.equal(true);
    });
  }

  it('starts none that the flag does not name, and asks nobody then', async () => {
    const { status, stderr } = await ask('y\n', ['--allow-commands=git']);
    expect(stderr).to.contain('"touch" may not be started (allowed here: git)');
    expect(status).to.equal(2);
    expect(hasStarted()).to.equal(false);
  });

  it('names what is no program in the flag', async () => {
    const { status, stderr } = await run(['--allow-commands=a b']);
    expect(stderr)
      .to.contain('--allow-commands must list names of programs')
      .and.to.contain('as in --allow-commands=git,python3');
    expect(status).to.equal(2);
  });

  it('asks at a terminal, with each command, and starts it once for y', async () => {
    const { status, stderr } = await ask('y\n');
    expect(stderr).to.contain(
      'touch.yaml starts programs on this machine, as you: touch\n  leave: touch started\n',
    );
    expect(status).to.equal(0);
    expect(hasStarted()).to.equal(true);
    expect(existsSync(folder.at('home'))).to.equal(false);
  });

  for (const answer of ['n\n', '\n', 'what\n', null]) {
    it(`starts nothing for the answer ${JSON.stringify(answer)}`, async () => {
      expect((await ask(answer)).status).to.equal(2);
      expect(hasStarted()).to.equal(false);
    });
  }

  it('remembers "a" for this folder and this text, for its user alone', async () => {
    expect((await ask('a\n')).status).to.equal(0);
    const file = folder.at('home/.local/state/wavetrain/allowed-commands.json');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect((await run([])).status).to.equal(0);
    folder.write('touch.yaml', TOUCH.replace('leave a file', 'leave another file'));
    expect((await run([])).status).to.equal(2);
    const elsewhere = folder.write('elsewhere/touch.yaml', TOUCH);
    expect(
      (
        await invoke(['run', elsewhere], {
          cwd: folder.path,
          host: { ...systemContext().host, homeFolder: folder.at('home') },
        })
      ).status,
    ).to.equal(2);
  });

  it('remembers in XDG_STATE_HOME where that is set, and takes a file that is no list for an empty one', async () => {
    const env = { XDG_STATE_HOME: folder.at('state') };
    folder.write('state/wavetrain/allowed-commands.json', '{"a": 1}');
    expect((await run([], { env })).status).to.equal(2);
    expect((await ask('a\n', [], { env })).status).to.equal(0);
    expect(readFileSync(folder.at('state/wavetrain/allowed-commands.json'), 'utf8')).to.contain(folder.path);
    expect((await run([], { env })).status).to.equal(0);
  });

  it('shows no control characters of a definition in its question', async () => {
    folder.write('touch.yaml', TOUCH.replace('[touch, started]', '[touch, "started\\e[2Khidden"]'));
    const { stderr } = await ask('n\n');
    expect(stderr).not.to.contain('\u001b[2Khidden');
    expect(stderr).to.contain('hidden');
  });

  it('shows variables and the folder, and hides nothing behind blanks or in the middle of a long command', async () => {
    const script = `ls${' '.repeat(300)}; touch hidden; ${'x'.repeat(900)} last`;
    folder.write(
      'touch.yaml',
      TOUCH.replace('{run: [touch, started]}', `{script: "${script}", cwd: sub, env: {A: b}}`),
    );
    const { stderr } = await ask('n\n');
    const shown = stderr.replaceAll(/\s+/g, ' ');
    expect(shown)
      .to.contain('ls ; touch hidden')
      .and.to.match(/… \(\d+ characters are not shown\) …/);
    expect(shown).to.contain('last, env {"A":"b"}, in sub');
  });

  it('asks again for a rerun of another person', async () => {
    const store = folder.at('history');
    const host = { ...systemContext().host, homeFolder: folder.at('home') };
    expect((await run(['--allow-commands', '--store', store])).status).to.equal(0);
    const rerun = (...flags: string[]) =>
      invoke(['rerun', '--from', 'leave', '--store', store, ...flags], { cwd: folder.path, host });
    const { status, stderr } = await rerun();
    expect(status).to.equal(2);
    expect(stderr).to.contain('"touch" may not be started');
    expect((await rerun('--allow-commands=touch')).status).to.equal(0);
  });

  it('does not take --allow-commands for a server', async () => {
    const { status, stderr } = await run(['--allow-commands', '--server', 'http://127.0.0.1:1']);
    expect(status).to.equal(2);
    expect(stderr).to.contain('SERVICE_COMMANDS=git,python3');
  });
});
