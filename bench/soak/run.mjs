import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// The server is the built command, as it is published; the tenants are processes of their own.
const folder = dirname(fileURLToPath(import.meta.url));
const outdir = join(folder, '..', '..', 'dist', 'bench-soak');
await build({
  entryPoints: ['main', 'hostile', 'honest'].map((name) => join(folder, `${name}.ts`)),
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
});
const { status } = spawnSync(process.execPath, [join(outdir, 'main.mjs'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
