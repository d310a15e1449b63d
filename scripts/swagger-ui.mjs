import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'node_modules', 'swagger-ui-dist');

/** What the page at /docs asks for, and what its authors ask to be kept with it. Source maps are left out. */
const files = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui-standalone-preset.js',
  'swagger-ui-standalone-preset.js.LICENSE.txt',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
];

/**
 * Puts Swagger UI into dist/swagger-ui. Its package stays behind: installing it reports the installation to a
 * stranger.
 */
export function copySwaggerUi() {
  const folder = join(root, 'dist', 'swagger-ui');
  mkdirSync(folder, { recursive: true });
  for (const file of files) cpSync(join(source, file), join(folder, file));
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'VERSION'), `${version}\n`);
}
