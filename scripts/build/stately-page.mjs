import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Builds the page that bridges to the official Stately inspector into `dist/stately`. */
export async function buildStatelyPage() {
  await build({
    absWorkingDir: root,
    entryPoints: ['web/stately/main.ts'],
    outdir: 'dist/stately',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    tsconfig: 'web/tsconfig.json',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'page.css']) {
    copyFileSync(join(root, 'web', 'stately', name), join(root, 'dist', 'stately', name));
  }
}
