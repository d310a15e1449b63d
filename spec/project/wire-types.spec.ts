import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { filesBelow, read, ROOT } from './files.js';

const execute = promisify(execFile);

const SAME = `import type { Shape } from '${ROOT}/lib/common/wire/shape.js';
type Full<T> = T extends readonly (infer E)[]
  ? readonly Full<E>[]
  : T extends object ? { readonly [K in keyof T]-?: Full<T[K]> } : T;
type Both<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Same<A, B> = Both<A, B> extends true ? Both<Full<A>, Full<B>> : false;
`;

/** Lines of code that the compiler accepts when the built types of a file are those of its schemas. */
function compareTypes(path: string): string[] {
  const [name, at] = [basename(path, '.ts').replaceAll('-', '_'), path.replace('.ts', '.js')];
  const types = [...read(path).matchAll(/^export const (\w+)Schema\b/gm)].map(([, type = '']) => type);
  return [
    `import type * as ${name} from '${ROOT}/${at}';`,
    `import type * as built_${name} from '${ROOT}/dist/types/${at}';`,
    ...types.map(
      (type) =>
        `export const ${name}_${type}: Same<Shape<typeof ${name}.${type}Schema>, built_${name}.${type}> = true;`,
    ),
  ];
}

describe('The types of what is sent, in the package', () => {
  const sources = filesBelow('lib/common/wire', '.ts').filter((path) =>
    read(path).includes('Schema = Type.'),
  );

  it('are those of the schemas', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wire-types-'));
    try {
      await writeFile(join(folder, 'same.mts'), `${SAME}${sources.flatMap(compareTypes).join('\n')}\n`);
      const config = { extends: join(ROOT, 'tsconfig.json'), include: [], files: ['same.mts'] };
      const types = { rootDir: '/', typeRoots: [join(ROOT, 'node_modules/@types')] };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, compilerOptions: types }));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      // The compiler writes what it finds to its output.
      const found = await execute(process.execPath, [tsc, '--noEmit', '-p', folder]).catch(
        (error: { readonly stdout: string }) => error,
      );
      expect(found.stdout).to.equal('');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('have the descriptions of the fields, which editors show', () => {
    expect(read('dist/types/lib/common/wire/failure.d.ts')).to.include(
      '    /** 0 when the tool was never called. */\n    readonly attempts: number;\n',
    );
  });
});
