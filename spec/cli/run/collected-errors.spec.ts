import { expect } from 'chai';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

/** An item fails when it is above 0. */
const COLLECTING = `id: collecting
goal: g
tasks:
  - {id: l, tool: transform, inputs: {input: null, expression: "[0, 1]"}}
  - id: each
    tool: fail
    parallel_over: "{{l.output}}"
    on_item_error: collect
    inputs: {message: no luck, times: "{{item}}"}
`;
const FATAL = '  - {id: fatal, tool: fail, await: [each], inputs: {message: fatal}}\n';

describe('run of a pipeline that collects errors (D67)', () => {
  const folder = new TemporaryFolder();
  before(() => {
    folder.write('collecting.yaml', COLLECTING);
    folder.write('fatal.yaml', COLLECTING + FATAL);
  });
  after(() => folder.remove());

  const run = (...argv: string[]) => invoke(['run', ...argv], { cwd: folder.path });

  it('reports the items that failed, although it succeeds, and prints the outputs', async () => {
    const { status, stdout, stderr } = await run('collecting.yaml', '--json');
    expect(status).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.include({ each: [{ attempts: 1 }, { error: 'no luck' }] });
    const [summary, ...others] = stderr.split('\n');
    expect(summary).to.match(/^✓ succeeded in .*: 2 waves, 3 invocations$/);
    expect(others).to.deep.equal(['  each[1] (collected) after 1 attempt: no luck', '']);
  });

  it('says nothing of them with --quiet', async () => {
    const { status, stderr } = await run('collecting.yaml', '--quiet');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  it('names first what it failed from, and counts the task among those that succeeded', async () => {
    const { status, stderr } = await run('fatal.yaml');
    expect(status).to.equal(3);
    const lines = stderr.split('\n').filter((line) => /^ {2}\S/.test(line));
    expect(lines.slice(0, 3)).to.deep.equal([
      '  fatal after 1 attempt: fatal',
      '  each[1] (collected) after 1 attempt: no luck',
      '  succeeded: l, each',
    ]);
  });
});

/** The items 1 to 12 fail alike, item 13 otherwise. */
const ALIKE = `id: alike
goal: g
tasks:
  - {id: l, tool: transform, inputs: {input: null, expression: "[0..13]"}}
  - id: each
    tool: own
    parallel_over: "{{l.output}}"
    inputs: {n: "{{item}}"}
`;
const OWN = `const runs = new Map();
export default {
  name: 'own', inputs: { n: {} },
  async run({ n }, { run_id: id }) {
    const run = runs.get(id) ?? { begun: 0 };
    runs.set(id, run);
    run.all ??= new Promise((resolve) => { run.resolve = resolve; });
    if (++run.begun === 14) run.resolve();
    await run.all;
    if (n > 0) throw new Error(n === 13 ? 'bad luck' : 'no luck');
    return n;
  },
};
`;

describe('run of a fan-out whose items fail alike', () => {
  const folder = new TemporaryFolder();
  before(() => {
    folder.write('alike.yaml', ALIKE);
    folder.write('own.mjs', OWN);
  });
  after(() => folder.remove());

  const failures = async (...flags: string[]): Promise<string[]> => {
    const argv = ['run', 'alike.yaml', '--tools', './own.mjs', ...flags];
    const { status, stderr } = await invoke(argv, { cwd: folder.path });
    expect(status).to.equal(3);
    return stderr.split('\n').filter((line) => /^ {2}each|^ {4}inputs/.test(line));
  };

  it('prints an error once, with the number of the items and the first indexes', async () => {
    expect(await failures()).to.deep.equal([
      '  each[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …] (12 items) after 1 attempt: no luck',
      '    inputs: {"n": 1}',
      '  each[13] after 1 attempt: bad luck',
      '    inputs: {"n": 13}',
    ]);
    const collect = ALIKE.replace('tool: own', 'tool: own\n    on_item_error: collect');
    folder.write('collect.yaml', collect);
    const { stderr } = await invoke(['run', 'collect.yaml', '--tools', './own.mjs'], { cwd: folder.path });
    expect(stderr).to.contain(
      '9, 10, …] (collected, 12 items) after 1 attempt: no luck\n  each[13] (collected) after',
    );
  });

  it('prints each of them with --verbose, and in the JSON', async () => {
    expect((await failures('--verbose')).filter((line) => line.endsWith('no luck'))).to.have.length(12);
    const { stdout } = await invoke(['run', 'alike.yaml', '--tools', './own.mjs', '--json'], {
      cwd: folder.path,
    });
    const { failures: listed } = JSON.parse(stdout) as { failures: { inputs?: { n: number } }[] };
    const numbers = listed.map(({ inputs }) => inputs?.n);
    expect(numbers).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, undefined, undefined, undefined]);
  });
});
