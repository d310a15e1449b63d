import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateAll } from './generated.js';

/**
 * Writes all generated files; with --check, reports those that are stale instead. Generated files are committed, so that
 * they can be read and reviewed.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const check = process.argv.includes('--check');
const stale: string[] = [];

for (const [path, content] of Object.entries(await generateAll())) {
  const file = join(root, path);
  if (readIfPresent(file) === content) continue;
  stale.push(path);
  if (check) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

if (check && stale.length > 0) {
  process.stderr.write(`stale, run "npm run generate": ${stale.join(', ')}\n`);
  process.exitCode = 1;
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
