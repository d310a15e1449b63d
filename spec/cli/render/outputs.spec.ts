import { expect } from 'chai';
import { parse } from 'yaml';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke, Screen } from '../invoke.js';

describe('wavetrain run, printing outputs', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  const at = (argv: readonly string[], options = {}) => invoke(argv, { cwd: folder.path, ...options });

  const LONG = `id: long
goal: g
tasks: [{id: many, tool: transform, inputs: {input: 0, expression: "[1..2000]"}}, {id: wide, tool: mock, inputs: {x: "${'x'.repeat(500)}"}}]
`;
  it('shortens long outputs on a terminal and prints how to get all of them', async () => {
    const screen = new Screen(80);
    const { stdout } = await at(['run', '-'], { input: LONG, stdout: screen, env: { NO_COLOR: '1' } });
    expect(stdout).to.contain('# shortened: --full or --json prints everything');
    expect(stdout.split('\n').length).to.be.below(40);
    for (const line of stdout.split('\n').slice(0, -2)) expect(line.length).to.be.below(80);
  });

  it('shortens them in a file or a pipe as on a terminal of 101 columns', async () => {
    const screen = { stdout: new Screen(101), env: { NO_COLOR: '1' } };
    const onScreen = await at(['run', '-'], { input: LONG, ...screen });
    const { stdout } = await at(['run', '-'], { input: LONG });
    expect(stdout).to.equal(onScreen.stdout);
    expect(stdout).to.contain('# shortened');
  });

  it('prints whole outputs with --full', async () => {
    const { stdout } = await at(['run', '-', '--full'], { input: LONG });
    const printed: { Outputs: { many: number[] } } = parse(stdout);
    expect(printed.Outputs.many).to.have.length(2000);
    expect(stdout).not.to.contain('…');
  });

  it('wraps a long text at words on a terminal, and cuts it after some lines', async () => {
    const text = (count: number): string => 'time and again '.repeat(count).trim();
    const pipeline = (count: number): string =>
      `id: t\ngoal: g\ntasks: [{id: a, tool: sleep, inputs: {seconds: 0, value: "${text(count)}"}}]\n`;
    const env = { NO_COLOR: '1' };
    for (const columns of [34, 60]) {
      const { stdout } = await at(['run', '-'], { input: pipeline(12), stdout: new Screen(columns), env });
      expect((parse(stdout) as { Outputs: object }).Outputs).to.deep.equal({ a: text(12) });
      for (const line of stdout.split('\n')) expect(line.length, line).to.be.below(columns);
    }
    const long = await at(['run', '-'], { input: pipeline(100_000), stdout: new Screen(60), env });
    expect(long.stdout.split('\n').length).to.be.below(24);
    expect(long.stdout).to.contain('# shortened');
  });

  it('replaces control characters of outputs on a terminal', async () => {
    const input = 'id: c\ngoal: g\ntasks: [{id: a, tool: mock, inputs: {x: "\\e[2J\\x9b2J\\u202e"}}]\n';
    const { stdout } = await at(['run', '-'], { input, stdout: new Screen(), env: { NO_COLOR: '1' } });
    // oxlint-disable-next-line no-control-regex -- none may be left
    expect(stdout).not.to.match(/[\u001b\u009b\u202e]/);
  });
});
