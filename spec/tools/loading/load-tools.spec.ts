import { join } from 'node:path';
import { expect } from 'chai';
import { errorMessage, WavetrainError } from '../../../lib/common/errors.js';
import { loadTools } from '../../../lib/tools/loading/load-tools.js';
import type { Tool } from '../../../lib/tools/tool.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { toolContext } from '../../support/tool-context.js';

/** The module that `import … from 'wavetrain'` finds in these specs: the modules under test, at their own paths. */
const ENTRY = `
export { defineTool } from ${JSON.stringify(join(import.meta.dirname, '../../../lib/tools/tool.ts'))};
export { ToolError } from ${JSON.stringify(join(import.meta.dirname, '../../../lib/common/errors.ts'))};
`;

const TOOL = `{ name: 'greet', description: 'Greets', inputs: { who: { type: 'string', required: true, description: 'whom' } },
  run: ({ who }) => 'hello ' + who }`;

describe('loadTools (D48)', () => {
  let folder: TemporaryFolder;
  let entry: string;

  beforeEach(() => {
    folder = new TemporaryFolder();
    entry = folder.write('entry/entry.mts', ENTRY);
  });

  afterEach(() => folder.remove());

  async function load(specifier: string): Promise<Tool[]> {
    const entries = await loadTools(specifier, folder.path, { entry });
    return entries.filter((loaded): loaded is Tool => loaded.kind !== 'schema');
  }

  async function loadNames(content: string, name = 'tools.mjs'): Promise<string[]> {
    folder.write(name, content);
    return (await load(`./${name}`)).map((tool) => tool.name);
  }

  async function catchMessage(specifier: string): Promise<string> {
    const error = await catchRejection(load(specifier));
    expect(error).to.be.instanceOf(WavetrainError).with.property('code', 'bad_tool_file');
    const message = errorMessage(error);
    expect(message)
      .to.contain(`"${specifier}"`)
      .and.not.match(/\n|\bat .+:\d+:\d+\)/);
    return message;
  }

  async function catchLoadError(content: string, name = 'bad.mjs'): Promise<string> {
    folder.write(name, content);
    return await catchMessage(`./${name}`);
  }

  describe('loads TypeScript', () => {
    const source = `
      import { defineTool, ToolError } from 'wavetrain';
      enum Tone { Loud = '!' }
      interface Greeting { text: string }
      export default defineTool({
        name: 'greet', description: 'Greets',
        inputs: { who: { type: 'string', required: true, description: 'whom' } },
        run({ who }): Greeting {
          if (who === 'nobody') throw new ToolError('nobody is there', { retryable: false });
          return { text: 'hello ' + who + Tone.Loud };
        },
      });`;

    for (const name of ['tools.ts', 'tools.mts']) {
      it(`from ${name}, where this package is not installed`, async () => {
        folder.write(name, source);
        const [tool] = await load(`./${name}`);
        expect(tool?.run({ who: 'you' }, toolContext())).to.deep.equal({ text: 'hello you!' });
      });
    }

    it('with the ToolError of this package, so that retryable: false takes effect', async () => {
      const { ToolError } = await import('../../../lib/common/errors.js');
      folder.write('tools.ts', source);
      const [tool] = await load('./tools.ts');
      expect(() => tool?.run({ who: 'nobody' }, toolContext()))
        .to.throw(ToolError, 'nobody is there')
        .with.property('retryable', false);
    });
  });

  it('loads JavaScript by relative path, absolute path and file name', async () => {
    const path = folder.write('tools.mjs', `export default ${TOOL}`);
    for (const specifier of ['./tools.mjs', path, 'tools.mjs'])
      expect((await load(specifier)).map(({ name }) => name)).to.deep.equal(['greet']);
  });

  it('loads JavaScript that imports this package where it is not installed', async () => {
    const content = `import { defineTool } from 'wavetrain'; export default defineTool(${TOOL})`;
    expect(await loadNames(content)).to.deep.equal(['greet']);
  });

  it('loads an installed package', async () => {
    folder.write(
      'node_modules/@acme/tools/package.json',
      '{"name":"@acme/tools","type":"module","exports":{".":{"import":"./main.js"}}}',
    );
    folder.write('node_modules/@acme/tools/main.js', `export default [${TOOL}]`);
    expect((await load('@acme/tools')).map(({ name }) => name)).to.deep.equal(['greet']);
  });

  it('accepts one tool, a list, {tools: [...]} and named exports', async () => {
    const other = TOOL.replace('greet', 'other');
    expect(await loadNames(`export default ${TOOL}`, 'a.mjs')).to.deep.equal(['greet']);
    expect(await loadNames(`export default [${TOOL}, ${other}]`, 'b.mjs')).to.deep.equal(['greet', 'other']);
    expect(await loadNames(`export default { tools: [${TOOL}] }`, 'c.mjs')).to.deep.equal(['greet']);
    expect(await loadNames(`export const a = ${TOOL}; export const b = [${other}]`, 'd.mjs')).to.deep.equal([
      'greet',
      'other',
    ]);
    expect(await loadNames(`export const tools = [${TOOL}]`, 'e.mjs')).to.deep.equal(['greet']);
    expect(await loadNames(`module.exports = { tools: [${TOOL}] }`, 'f.cjs')).to.deep.equal(['greet']);
  });

  it('reads only the default export when there is one', async () => {
    expect(await loadNames(`export const other = () => 1; export default ${TOOL}`)).to.deep.equal(['greet']);
  });

  it('returns a tool once that is exported twice, and the same tool on the next load', async () => {
    folder.write('tools.mjs', `export const a = ${TOOL}; export const b = [a]`);
    const [first, second] = [await load('./tools.mjs'), await load('./tools.mjs')];
    expect(first).to.have.length(1);
    expect(first[0]).to.equal(second[0]);
  });

  it('checks the shape, fills in missing fields and preserves `this`', async () => {
    folder.write(
      'tools.mjs',
      `class Counter { name = 'count'; inputs = { by: { type: 'integer' } }; total = 0; run({ by }) { return (this.total += by); } }
       export default new Counter()`,
    );
    const [tool] = await load('./tools.mjs');
    expect(tool).to.deep.include({
      name: 'count',
      description: '',
      inputs: { by: { type: 'integer', description: '' } },
      openInputs: false,
      output: { name: 'output', description: 'the result', type: 'any' },
    });
    tool?.run({ by: 2 }, toolContext());
    expect(tool?.run({ by: 3 }, toolContext())).to.equal(5);
  });

  describe('reports errors without a stack trace', () => {
    it('of the file', async () => {
      expect(await catchMessage('./none.ts')).to.contain(`there is no file ${folder.at('none.ts')}`);
      expect(await catchMessage('no-such-package')).to.contain('no such package is installed');
      expect(await catchLoadError('export default {')).to.contain('bad.mjs');
      expect(await catchLoadError('export default {', 'bad.ts')).to.contain('bad.ts');
      expect(await catchLoadError('throw new Error("boom")', 'throws.mjs')).to.contain('boom');
      expect(await catchLoadError('throw new Error("boom")', 'throws.ts')).to.contain('boom');
      expect(await catchLoadError('throw "just text"', 'text.mjs')).to.contain('just text');
      expect(await catchLoadError('import "not-there"; export default 1', 'imports.mjs')).to.contain(
        'not-there',
      );
    });

    it('of the exports', async () => {
      expect(await catchLoadError('const a = 1', 'a.mjs')).to.contain('exports no tool');
      expect(await catchLoadError('export default []', 'b.mjs')).to.contain('exports no tool');
      expect(await catchLoadError('export default 5', 'c.mjs')).to.contain(
        'its default export is a number, not a tool',
      );
      expect(await catchLoadError('export default null', 'd.mjs')).to.contain('its default export is null');
      expect(
        await catchLoadError(`export const other = () => 1; export const a = ${TOOL}`, 'e.mjs'),
      ).to.contain('its export "other" is a function, not a tool');
      expect(await catchLoadError(`export default [${TOOL}, 5]`, 'f.mjs')).to.contain(
        'its default export, number 2, is a number',
      );
    });

    it('of a tool', async () => {
      expect(await catchLoadError(`export const a = { name: 'x', inputs: {} }`, 'tool.mjs')).to.contain(
        'its export "a" ("x") is not a tool: it has no function "run"',
      );
    });
  });
});
