import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { distFile, packageFolder } from '../common/files.js';
import type { Json } from '../common/json/json.js';
import type { ImportModule } from '../tools/loading/load-tools.js';

export const PROGRAM = 'wavetrain';

// The bundled command has no `import()` of its own: bin/start.cjs passes its own in.
declare const hostImport: ImportModule | undefined;

export const importModule: ImportModule =
  typeof hostImport === 'undefined' ? (url) => import(url) : hostImport;

interface PackageJson {
  readonly version: string;
  readonly engines: { readonly node: string };
}

export function readPackageJson(): PackageJson {
  const packageJson: PackageJson = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8'));
  return packageJson;
}

/** Finds the file that tool files import as 'wavetrain': the source if it is there, else the built entry point. */
export function packageEntry(): string {
  const source = fileURLToPath(new URL('../index.ts', import.meta.url));
  return existsSync(source) ? source : createRequire(import.meta.url).resolve(PROGRAM);
}

/** Reads the charts of the machines that the build has drawn; there are none where it has not run. */
export async function readStatecharts(): Promise<readonly Json[]> {
  const file = distFile('statecharts.json');
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : [];
}
