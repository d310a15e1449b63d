import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of this checkout. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Reads a file by its path relative to the root. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Lists the files below `folder` that end in `ending`, relative to the root and sorted. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending) && !path.split(sep).includes('node_modules'))
    .map((path) => join(folder, path).replaceAll(sep, '/'))
    .sort();
}

/** Lists every document, relative to the root. Other Markdown files of the examples are data. */
export function documents(): string[] {
  const atRoot = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  return [...atRoot.sort(), ...filesBelow('docs', '.md'), ...filesBelow('examples', 'README.md')];
}

/** @throws Error when the command is not built */
export function requireBuild(): void {
  for (const file of [
    'dist/cli.cjs',
    'dist/index.js',
    'dist/types/lib/index.d.ts',
    'dist/client.js',
    'dist/swagger-ui/VERSION',
    'dist/web/VERSION',
    'dist/document-process.cjs',
    'dist/expression-process.cjs',
    'dist/fork-server-process.cjs',
    'dist/parsing-process.cjs',
    'dist/sql-process.cjs',
    'dist/store-thread.cjs',
    'dist/backup-process.cjs',
  ]) {
    if (!existsSync(join(ROOT, file))) {
      throw new Error(`${file} is missing: run "npm run build" first ("npm test" does)`);
    }
  }
}
