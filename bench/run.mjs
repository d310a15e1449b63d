import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// Measured is what is published: bundled code, and not what a loader makes of the sources while it runs.
const folder = dirname(fileURLToPath(import.meta.url));
const outfile = join(folder, '..', 'dist', 'bench.mjs');
await build({
  entryPoints: [join(folder, 'main.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
});
const { status } = spawnSync(process.execPath, ['--expose-gc', outfile], { stdio: 'inherit' });
process.exitCode = status ?? 1;
