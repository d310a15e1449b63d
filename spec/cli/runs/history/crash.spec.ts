import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { requireBuild, ROOT } from '../../../project/files.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

/** The tool writes down for which item it was called; item 2 never ends while the file `hold` is there. */
const TOOLS = `import { appendFileSync, existsSync } from 'node:fs';
import { defineTool } from 'wavetrain';

export default defineTool({
  name: 'step',
  description: 'says that it was called',
  inputs: { n: { type: 'integer' } },
  run: async ({ n }) => {
    appendFileSync('called.txt', n + '\\n');
    if (n !== 2 || !existsSync('hold')) return n;
    // The outputs of the other items are kept some turns of the event loop later.
    for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve));
    console.error('holding');
    return new Promise((resolve) => setInterval(resolve, 2 ** 30));
  },
});
`;

const PIPELINE = `id: p
goal: g
inputs: {numbers: [1, 2, 3]}
tasks:
  - {id: each, tool: step, parallel_over: "{{pipeline.inputs.numbers}}", inputs: {n: "{{item}}"}}
  - {id: last, tool: step, inputs: {n: "{{each.output[2]}}"}}
`;

describe('the history of the shell: crashes (D68)', () => {
  before(() => requireBuild());
  let folder: TemporaryFolder;
  let children: ChildProcess[];

  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('tools.mjs', TOOLS.replace("from 'wavetrain'", `from '${ROOT}/dist/index.js'`));
    folder.write('p.yaml', PIPELINE);
    folder.write('hold', '');
    children = [];
  });

  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    folder.remove();
  });

  function start(...argv: string[]): ChildProcess {
    const child = spawn(process.execPath, [join(ROOT, 'bin/wavetrain.js'), ...argv], {
      cwd: folder.path,
      env: { PATH: process.env['PATH'], HOME: folder.path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return child;
  }

  async function finish(child: ChildProcess): Promise<{ readonly status: unknown; readonly stdout: string }> {
    const { stdout } = child;
    if (stdout === null) throw new Error('its standard output is not piped');
    const [printed, [status]] = await Promise.all([text(stdout), once(child, 'close')]);
    return { status, stdout: printed };
  }

  /** Resolves when item 2 is at work, and the ends of the others are kept. */
  async function holds(child: ChildProcess): Promise<void> {
    let said = '';
    for await (const chunk of child.stderr ?? []) {
      said += String(chunk);
      if (said.includes('holding')) return;
    }
    throw new Error(`it has ended: ${said}`);
  }

  const called = (): string[] => readFileSync(folder.at('called.txt'), 'utf8').trimEnd().split('\n').sort();

  it('after kill -9 in a fan-out, rerun calls only what had not ended', async () => {
    const running = start('run', 'p.yaml', '--tools', 'tools.mjs', '--verbose');
    await holds(running);
    running.kill('SIGKILL');
    await once(running, 'close');
    rmSync(folder.at('hold'));
    const { status, stdout } = await finish(start('rerun', '--json'));
    expect(status).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ each: [1, 2, 3], last: 3 });
    expect(called()).to.deep.equal(['1', '2', '2', '3', '3']);
  });

  it('two shells at once do not wait for each other, and lose nothing', async () => {
    const first = start('run', 'p.yaml', '--tools', 'tools.mjs', '--verbose');
    await holds(first);
    rmSync(folder.at('hold'));
    expect((await finish(start('run', 'p.yaml', '--tools', 'tools.mjs', '--json'))).status).to.equal(0);
    const listed = await finish(start('runs', 'list', '--json'));
    const { runs } = JSON.parse(listed.stdout) as { runs: { status: string }[] };
    expect(runs.map(({ status }) => status)).to.deep.equal(['succeeded', 'running']);
    expect((await finish(start('rerun', '--from', 'last', '--json'))).stdout).to.contain('"last":3');
  });
});
