import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImportModule } from '../tools/loading/load.js';

/** The name by which people call this program. */
export const PROGRAM = 'wavetrain';

// In the bundled command, where `import()` is out of reach, this is what starts it from (bin/start.cjs).
declare const hostImport: ImportModule | undefined;

/** Imports a module by its URL. */
export const importModule: ImportModule =
  typeof hostImport === 'undefined' ? (url) => import(url) : hostImport;

/** What this package says of itself. */
interface PackageFacts {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The facts in this package's own package.json. */
export function packageFacts(): PackageFacts {
  const facts: PackageFacts = createRequire(import.meta.url)('wavetrain/package.json');
  return facts;
}

/** The file that tool files get for `import … from 'wavetrain'`: the source beside us, or what the package exports. */
export function packageEntry(): string {
  const source = fileURLToPath(new URL('../index.ts', import.meta.url));
  return existsSync(source) ? source : createRequire(import.meta.url).resolve(PROGRAM);
}

/** A file of the package that the build makes. */
export function builtFile(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve('wavetrain/package.json')), 'dist', name);
}
