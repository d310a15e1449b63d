import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generated } from './generated.js';

/**
 * Writes every generated file, or with --check says which differ from what would be written.
 * Generated files are committed, so that a reader sees them and a change of them shows in a diff.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const check = process.argv.includes('--check');
const stale: string[] = [];

for (const [path, content] of Object.entries(generated())) {
  const file = join(root, path);
  if (current(file) === content) continue;
  stale.push(path);
  if (check) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

if (check && stale.length > 0) {
  process.stderr.write(`stale, run "npm run generate": ${stale.join(', ')}\n`);
  process.exitCode = 1;
}

function current(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
