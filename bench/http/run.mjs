import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// Measured is bundled code, as it is published. `node --cpu-prof bench/http/run.mjs requests` profiles every process.
const folder = dirname(fileURLToPath(import.meta.url));
const outdir = join(folder, '..', '..', 'dist', 'bench-http');
mkdirSync(outdir, { recursive: true });
await build({
  entryPoints: ['main', 'server', 'floor', 'probe'].map((name) => join(folder, `${name}.ts`)),
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
  [...process.execArgv, '--expose-gc', join(outdir, 'main.mjs'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
