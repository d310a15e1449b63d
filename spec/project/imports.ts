import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesBelow, read, ROOT } from './files.js';

/** A source file of lib, machines or web, with its imports. */
export interface SourceFile {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  /** The text without comments; line numbers are unchanged. */
  readonly code: string;
  readonly imports: readonly Import[];
}

export interface Import {
  /** A file relative to the root, or the name of a package or of a Node.js module. */
  readonly target: string;
  readonly isPackage: boolean;
  /** Imports types only. */
  readonly isType: boolean;
  /** Loaded on demand by `import('…')`. */
  readonly isLazy: boolean;
}

/** The output of `npm run generate` does not count as source. */
const GENERATED = 'lib/definition/generated/';

/** Lists the files of the program that runs in Node.js. */
export function sourceFiles(): SourceFile[] {
  return readSources([...filesBelow('lib', '.ts'), ...filesBelow('machines', '.ts')]);
}

/** Lists the files of the page that runs in the browser. */
export function pageFiles(): SourceFile[] {
  return readSources([...filesBelow('web', '.ts'), ...filesBelow('web', '.tsx')]);
}

function readSources(paths: readonly string[]): SourceFile[] {
  return paths.filter((path) => !path.startsWith(GENERATED)).map((path) => sourceFile(path, read(path)));
}

function sourceFile(path: string, text: string): SourceFile {
  const code = withoutComments(text);
  return { path, text, code, imports: importsIn(path, code) };
}

function withoutComments(text: string): string {
  const blank = (comment: string): string => comment.replaceAll(/[^\n]/g, '');
  return text.replaceAll(/\/\*[^]*?\*\//g, blank).replaceAll(/(?<=^|\s)\/\/ .*$/gm, '');
}

/** `import … from`, `export … from`, `import('…')`, `require('…')` and `require.resolve('…')`; types marked as such. */
const STATIC = /^(?:import|export)\b(?!\()([^;'"=]*?)\bfrom\s*'([^']+)'|^import '([^']+)'/gm;
const DYNAMIC = /(typeof )?\bimport\(\s*'([^']+)'\s*\)|\b(?:require|resolve)\('([^'./][^']*)'\)/g;

function importsIn(path: string, code: string): Import[] {
  const fixed = [...code.matchAll(STATIC)].map(([, names = '', from, bare = '']) => {
    return importOf(path, from ?? bare, { isType: isTypeOnly(names), isLazy: false });
  });
  const late = [...code.matchAll(DYNAMIC)].map(([, isType, imported, required = '']) => {
    const isLazy = imported !== undefined && isType === undefined;
    return importOf(path, imported ?? required, { isType: isType !== undefined, isLazy });
  });
  return [...fixed, ...late];
}

/** `type { A }`, or `{ type A, type B }`. */
function isTypeOnly(names: string): boolean {
  const listed = /\{([^}]*)\}/.exec(names)?.[1]?.split(',') ?? [];
  const named = listed.map((name) => name.trim()).filter((name) => name !== '');
  return (
    names.trimStart().startsWith('type ') ||
    (named.length > 0 && named.every((name) => name.startsWith('type ')))
  );
}

function importOf(path: string, specifier: string, how: Pick<Import, 'isType' | 'isLazy'>): Import {
  if (!specifier.startsWith('.')) return { target: packageName(specifier), isPackage: true, ...how };
  const source = join(dirname(path), specifier).replaceAll('\\', '/').replace(/\.js$/, '.ts');
  const target =
    !existsSync(join(ROOT, source)) && existsSync(join(ROOT, `${source}x`)) ? `${source}x` : source;
  return { target: target.startsWith(GENERATED) ? GENERATED : target, isPackage: false, ...how };
}

function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
