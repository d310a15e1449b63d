import { expect } from 'chai';
import { join } from 'node:path';
import { loadPipeline } from '../lib/pipelines/load.js';
import { RunRegistry } from '../lib/runs/registry.js';
import type { RunRecord } from '../lib/runs/record.js';
import { fileAccess } from '../lib/tools/files.js';
import { loadTools } from '../lib/tools/load.js';
import { commandIn, type Example, examples } from './docs/examples.js';
import { documents, filesBelow, read, requireBuild, ROOT } from './docs/project.js';
import { eachOf, type Finished, Shell } from './docs/shell.js';

const EMBED = 'examples/09-library/embed.ts';

describe('The examples', () => {
  const all = examples();

  it('are all the pipelines of the folder but the one that embed.ts runs', () => {
    const pipelines = filesBelow('examples', '.yaml').filter(
      (path) => !path.startsWith('examples/09-library/'),
    );
    expect(all.map(({ path }) => path)).to.deep.equal(pipelines);
  });

  it('are listed in a table, each with its folder', () => {
    const table = read('examples/README.md');
    const folders = new Set(all.map(({ path }) => path.split('/')[1] ?? '').concat('09-library'));
    expect([...folders].filter((folder) => !table.includes(`](${folder}/`))).to.deep.equal([]);
    expect(documents()).to.include('examples/README.md');
  });

  describe('give in this process what they say', () => {
    for (const example of all) {
      it(example.path, async () => {
        const { status, result, failures } = await run(example);
        const { given: _, ...expected } = example.expectation;
        expect({ status, result, failures }).to.deep.equal(expected);
      });
    }
  });

  describe('give through the built command, as their first comment calls it, what they say', () => {
    const finished = new Map<string, Finished>();

    before(async function () {
      this.timeout(60_000);
      requireBuild();
      await eachOf(all, async ({ path, command }) => {
        const shell = new Shell();
        finished.set(
          path,
          await shell.run(`${command} --json`.replace('--json --json', '--json'), { errors: false }),
        );
        shell.remove();
      });
    });

    for (const { path, expectation } of all) {
      it(path, () => {
        const { status, output } = finished.get(path) ?? { status: null, output: '' };
        expect(status).to.equal(expectation.result === null ? 3 : 0);
        expect(output === '' ? null : JSON.parse(output)).to.deep.equal(expectation.result?.outputs ?? null);
      });
    }
  });

  it('print, for embed.ts as its first comment calls it, what is committed beside it', async function () {
    this.timeout(60_000);
    requireBuild();
    const shell = new Shell();
    const { output } = await shell.run(commandIn(EMBED), { errors: false });
    shell.remove();
    expect(output).to.equal(read('examples/09-library/embed.expected.txt'));
  });
});

async function run({ path, folder, expectation: { given } }: Example): Promise<RunRecord> {
  const { tools: files = [], ...rest } = given;
  const entry = join(ROOT, 'lib/index.ts');
  const tools = await Promise.all(files.map((file) => loadTools(`./${file}`, folder, { entry })));
  const pipeline = await loadPipeline(join(ROOT, path), {
    tools: tools.flat(),
    ...(rest.inputs && { inputs: rest.inputs }),
    ...(rest.session && { session: rest.session }),
  });
  const registry = new RunRegistry({ files: fileAccess([folder]) });
  const runId = await registry.submit({ pipeline, ...rest });
  return registry.settled(runId);
}
