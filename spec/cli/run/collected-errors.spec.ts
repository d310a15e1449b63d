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
  let folder: TemporaryFolder;
  before(() => {
    folder = new TemporaryFolder();
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
