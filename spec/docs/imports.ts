import { dirname, join } from 'node:path';
import { filesBelow, read } from './project.js';

/** A source file of lib or machines, as far as its surroundings go. */
export interface SourceFile {
  /** From the root. */
  readonly path: string;
  readonly text: string;
  /** Without comments; lines keep their numbers. */
  readonly code: string;
  readonly imports: readonly Import[];
}

export interface Import {
  /** A file from the root, or the name of a package or of a module of Node.js. */
  readonly target: string;
  readonly isPackage: boolean;
  /** Gone after compiling. */
  readonly isType: boolean;
}

/** What `npm run generate` writes is no source. */
const GENERATED = 'lib/definition/generated/';

export function sourceFiles(): SourceFile[] {
  const paths = [...filesBelow('lib', '.ts'), ...filesBelow('machines', '.ts')];
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
    return importOf(path, from ?? bare, isTypeOnly(names));
  });
  const late = [...code.matchAll(DYNAMIC)].map(([, isType, imported, required = '']) => {
    return importOf(path, imported ?? required, isType !== undefined);
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

function importOf(path: string, specifier: string, isType: boolean): Import {
  if (!specifier.startsWith('.')) return { target: packageName(specifier), isPackage: true, isType };
  const target = join(dirname(path), specifier).replaceAll('\\', '/').replace(/\.js$/, '.ts');
  return { target: target.startsWith(GENERATED) ? GENERATED : target, isPackage: false, isType };
}

function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
