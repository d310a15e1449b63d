import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'web', 'inspect');

/**
 * Writes the inspector to dist/web: its script, its style sheet, its icon, and the page, which names them with the
 * version that VERSION has. Returns the paths of what was bundled.
 */
export async function buildInspector() {
  const folder = join(root, 'dist', 'web');
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: 'web/inspect/main.tsx', out: 'inspect' },
      { in: 'web/inspect/styles/inspect.css', out: 'inspect' },
    ],
    outdir: 'dist/web',
    bundle: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const icon = readFileSync(join(source, 'icon.svg'));
  writeFileSync(join(folder, 'icon.svg'), icon);
  const hash = createHash('sha256').update(icon);
  for (const file of ['inspect.js', 'inspect.css']) hash.update(readFileSync(join(folder, file)));
  const version = hash.digest('hex').slice(0, 16);
  const page = readFileSync(join(source, 'index.html'), 'utf8');
  writeFileSync(join(folder, 'index.html'), page.replaceAll('{{assets}}', `/inspect/assets/${version}`));
  writeFileSync(join(folder, 'VERSION'), `${version}\n`);
  return Object.keys(metafile.inputs);
}
