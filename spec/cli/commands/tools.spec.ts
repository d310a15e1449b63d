import { expect } from 'chai';
import { parse } from 'yaml';
import { builtinCatalog, type ToolMetadata } from '../../../lib/tools/catalog.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke, Screen } from '../invoke.js';

describe('tools', () => {
  it('lists every tool with its description', async () => {
    const { status, stdout, stderr } = await invoke(['tools']);
    expect(status).to.equal(0);
    expect(stderr).to.equal('');
    for (const { name, description } of builtinCatalog().metadata()) {
      expect(stdout).to.contain(`  ${name} `);
      expect(stdout.replaceAll(/\s+/g, ' ')).to.contain(description);
    }
  });

  it('prints the response of the tools endpoint with --json (D41)', async () => {
    const { stdout, stderr } = await invoke(['tools', '--json']);
    const catalog = builtinCatalog();
    expect(JSON.parse(stdout)).to.deep.equal({ tools: catalog.names(), metadata: catalog.metadata() });
    expect(stderr).to.equal('');
  });

  it('shows the inputs of one tool with type, requirement, default and description', async () => {
    const { stdout } = await invoke(['tools', 'store']);
    expect(stdout).to.match(/key \(string, required\) +\S/);
    expect(stdout).to.match(/append \(boolean, optional\)[^]*Default false\./);
    expect(stdout).to.contain('Output\n');
  });

  it('shows the fields of the output of one tool with their types', async () => {
    const { stdout } = await invoke(['tools', 'http_request']);
    expect(stdout.slice(stdout.indexOf('Output\n'))).to.contain('{status: integer, url: text, headers: ');
  });

  it('prints the metadata of one tool with --json', async () => {
    const tool: ToolMetadata = JSON.parse((await invoke(['tools', 'store', '--json'])).stdout);
    expect(tool).to.have.all.keys('name', 'description', 'inputs', 'output');
    expect(tool.inputs['key']).to.include({ required: true });
  });

  for (const name of builtinCatalog().names()) {
    it(`prints a valid example task for ${name}`, async () => {
      const { stdout } = await invoke(['tools', name]);
      const snippet = stdout.slice(stdout.indexOf('Example\n') + 'Example\n'.length);
      const pasted = snippet.replaceAll('another_task', 'before').replaceAll('"text"', '"$"');
      const definition = `id: p\ngoal: g\ntasks:\n  - {id: before, tool: mock}\n${pasted}`;
      expect(parse(definition).tasks).to.have.length(2);
      expect(() => parsePipeline(definition)).not.to.throw();
    });
  }

  it('wraps at words at 34 columns, and loses none', async () => {
    const words = (text: string): string[] => text.split(/\s+/).toSorted();
    for (const argv of [
      ['tools'],
      ...builtinCatalog()
        .names()
        .map((name) => ['tools', name]),
    ]) {
      const { stdout } = await invoke(argv, { stdout: new Screen(34), env: { NO_COLOR: '1' } });
      expect(words(stdout), argv.join(' ')).to.deep.equal(words((await invoke(argv)).stdout));
      // The task is there to be copied.
      for (const line of stdout.replace(/\nExample\n[^]*/, '').split('\n')) {
        expect(line.length, line).to.be.below(34);
      }
    }
  });

  it('puts the type of an input with a long name below it at 34 columns', async () => {
    const folder = new TemporaryFolder();
    const name = 'include_the_hidden_ones';
    folder.write(
      'long.mjs',
      `export default { name: "long", inputs: { ${name}: { type: "boolean", description: "all", default: false } }, run: () => 1 };`,
    );
    const { stdout } = await invoke(['tools', 'long', '--tools', './long.mjs'], {
      cwd: folder.path,
      stdout: new Screen(34),
      env: { NO_COLOR: '1' },
    });
    expect(stdout).to.contain(`Inputs\n  ${name}\n      (boolean, optional) all.\n      Default false.\n`);
    folder.remove();
  });

  it('suggests the nearest name for an unknown tool and exits with 2', async () => {
    const { status, stdout, stderr } = await invoke(['tools', 'sotre', '--json']);
    expect(status).to.equal(2);
    expect(stdout).to.equal('');
    expect(stderr).to.contain('there is no tool "sotre"').and.to.contain('did you mean store?');
    expect((await invoke(['tools', 'nothing_near_it'])).stderr).to.contain('the tools are');
  });

  it('shows tools of a TypeScript file that imports wavetrain, from --tools and SERVICE_TOOLS (D48)', async () => {
    const folder = new TemporaryFolder();
    const tool = (name: string): string => `import { defineTool } from 'wavetrain';
      export default defineTool({ name: '${name}', description: 'of the file', inputs: {}, run: () => 1 });`;
    folder.write('one.ts', tool('one'));
    folder.write('two.ts', tool('two'));
    const env = { SERVICE_TOOLS: './two.ts' };
    const { stdout } = await invoke(['tools', '--tools', 'one.ts', '--json'], { cwd: folder.path, env });
    const { tools }: { tools: string[] } = JSON.parse(stdout);
    expect(tools).to.include.members(['one', 'two', 'store']);
    folder.remove();
  });

  it('exits with 2 for a file without tools and names it', async () => {
    const folder = new TemporaryFolder();
    folder.write('none.mjs', 'export default 1;');
    const { status, stderr } = await invoke(['tools', '--tools', 'none.mjs'], { cwd: folder.path });
    expect(status).to.equal(2);
    expect(stderr).to.contain('none.mjs');
    folder.remove();
  });
});
