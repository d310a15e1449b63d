import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Writes the inspector to dist/web. Returns the paths of what was bundled. */
export function buildInspector() {
  return buildPage({ name: 'inspect', folder: 'web', assets: '/inspect/assets' });
}

/** Writes the run console to dist/console. Its editor is a file of its own, which is loaded when it is opened. */
export function buildConsole() {
  return buildPage({ name: 'console', folder: 'console', assets: '/assets' });
}

/**
 * Writes a page to a folder of dist: its scripts, its style sheet, its icon, and the page, which names them with the
 * version that VERSION has. Returns the paths of what was bundled.
 */
async function buildPage({ name, folder, assets }) {
  const target = join(root, 'dist', folder);
  mkdirSync(target, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: `web/${name}/main.tsx`, out: name },
      { in: `web/${name}/styles/${name}.css`, out: name },
    ],
    outdir: target,
    bundle: true,
    splitting: true,
    chunkNames: `${name}-[hash]`,
    minify: true,
    metafile: true,
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  writeFileSync(join(target, 'icon.svg'), readFileSync(join(root, 'web', 'shared', 'icon.svg')));
  const hash = createHash('sha256');
  for (const file of readdirSync(target).toSorted()) hash.update(readFileSync(join(target, file)));
  const version = hash.digest('hex').slice(0, 16);
  const page = readFileSync(join(root, 'web', name, 'index.html'), 'utf8');
  writeFileSync(join(target, 'index.html'), page.replaceAll('{{assets}}', `${assets}/${version}`));
  writeFileSync(join(target, 'VERSION'), `${version}\n`);
  return Object.keys(metafile.inputs);
}
