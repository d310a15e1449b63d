import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'libsql';
import { SqliteStore } from '../../../../lib/runs/store/sqlite/sqlite-store.js';
import { ROOT } from '../../../project/files.js';
import { addSettled } from '../suites/archive-suite.js';
import { storedRun } from '../suites/store-suite.js';

const Driver = createRequire(import.meta.url)('libsql') as typeof Database;

/** The file of an earlier version, with two runs. */
export const OLD_FILE = join(ROOT, 'spec', 'runs', 'store', 'fixtures', 'v1.db');

export function openStore(file: string): Promise<SqliteStore> {
  return SqliteStore.open(file, join(ROOT, 'dist', 'store-thread.cjs'));
}

/** Writes a store that is closed, with settled runs of two tenants and one run at work, which no server can rebuild. */
export async function writeStore(
  file: string,
  settled: number,
  length = 10,
  hasRunAtWork = true,
  isRecent = false,
): Promise<void> {
  const store = await openStore(file);
  // A server deletes runs that are too old.
  const firstMs = isRecent ? Date.now() - 1000 : 0;
  for (let number = 1; number <= settled; number++) {
    const { submission, ...stored } = storedRun(number);
    const run = { ...stored, createdAt: firstMs + number };
    const inputs = { text: 'x'.repeat(length) };
    const tenant_id = number % 3 === 0 ? 'acme' : 'default';
    const status = number % 2 === 0 ? 'failed' : 'succeeded';
    addSettled(store, { ...run, submission: { ...submission, tenant_id, inputs } }, { status });
  }
  if (hasRunAtWork) store.add(storedRun(settled + 1));
  await store.close();
}

/** Runs a statement in a file that is closed, as another program would. */
export function execute(file: string, sql: string): void {
  const database = new Driver(file);
  database.exec(sql);
  database.close();
}
