import { expect } from 'chai';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type Fence, fencesOf } from './markdown.js';
import { documents, read, requireBuild, ROOT } from '../files.js';
import { type Finished, Shell } from './shell.js';

const EXAMPLE = 'examples/09-library';
/** The example is compiled here; another spec runs it. */
const BLACKBOARD = 'examples/11-own-blackboard/main.ts';

describe('The programs in the documents and in the library examples', () => {
  const blocks = documents().flatMap((file) => fencesOf(file).filter(({ language }) => language === 'ts'));
  let shell: Shell;
  let compiled: Finished;

  before(async () => {
    requireBuild();
    shell = new Shell();
    for (const block of blocks)
      shell.folder.write(`programs/${nameOf(block)}.ts`, `${block.text}export {};\n`);
    shell.folder.write('tsconfig.json', JSON.stringify(configuration()));
    compiled = await shell.run('"$NODE" "$ROOT/node_modules/typescript/bin/tsc" -p .');
  });

  after(() => shell.remove());

  it('are more than five', () => {
    expect(blocks.length).to.be.above(5);
  });

  it('compile in strict mode against the published types', () => {
    expect(compiled.output).to.equal('');
  });

  it('print the committed output, for the compiled embed.ts', async () => {
    cpSync(join(ROOT, EXAMPLE, 'pipeline.yaml'), shell.folder.at(`out/${EXAMPLE}/pipeline.yaml`));
    const { output } = await shell.run(`"$NODE" out/${EXAMPLE}/embed.js`);
    expect(output).to.equal(read(`${EXAMPLE}/embed.expected.txt`));
  });
});

function nameOf({ file, line }: Fence): string {
  return `${file.replaceAll(/\W/g, '-')}-line-${line}`;
}

function configuration(): object {
  const language = { module: 'nodenext', target: 'es2023', strict: true };
  const types = { types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };
  return {
    compilerOptions: { ...language, ...types, rootDir: '.', outDir: 'out' },
    include: ['programs', `${EXAMPLE}/embed.ts`, BLACKBOARD],
  };
}
