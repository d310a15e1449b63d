import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const source = join(root, 'node_modules', 'swagger-ui-dist');

/** The files of the page at /docs and their licences; without source maps. */
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
 * Copies Swagger UI to dist/swagger-ui. It is not a dependency, because its package reports each installation to a
 * third party.
 */
export function copySwaggerUi() {
  const folder = join(root, 'dist', 'swagger-ui');
  mkdirSync(folder, { recursive: true });
  for (const file of files) cpSync(join(source, file), join(folder, file));
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'VERSION'), `${version}\n`);
}
