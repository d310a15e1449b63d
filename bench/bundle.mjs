import { spawnSync } from 'node:child_process';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Bundles the programs of a folder, and runs `main` with the arguments of this process. Measured is bundled code, as it
 * is published, and not what a loader makes of the sources while it runs.
 *
 * @param {string} url of the caller, in the folder of the programs
 * @param {string[]} names of the programs, without `main`
 * @param {string[]} flags of Node.js
 */
export async function runBundled(url, names, flags) {
  const folder = dirname(fileURLToPath(url));
  const outdir = join(root, 'dist', relative(root, folder).replaceAll(sep, '-'));
  await build({
    entryPoints: ['main', ...names].map((name) => join(folder, `${name}.ts`)),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  const { status } = spawnSync(
    process.execPath,
    [...flags, join(outdir, 'main.mjs'), ...process.argv.slice(2)],
    {
      stdio: 'inherit',
    },
  );
  process.exitCode = status ?? 1;
}
