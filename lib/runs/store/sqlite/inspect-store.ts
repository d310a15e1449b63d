import { existsSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { errorCode } from '../../../common/errors.js';
import type Database from 'libsql';
import { type OpenFile, openReader } from './connection.js';
import { assertOurs } from './schema.js';
import { cannotOpen, findDriver, isLocked } from './open-errors.js';

/** The facts of a store that can be seen from outside. */
interface StoreFacts {
  /** Of the file and of what is not written into it yet; undefined when there is no file yet. */
  readonly bytes: number | undefined;
  /** Number of runs, those that are still to be done included. */
  readonly runs: number;
  /** True when a server has the file open. */
  readonly isOpen: boolean;
}

/**
 * Looks into the file that keeps runs (D68), without creating it or bringing it to a new version. Rejects with `bad_usage`
 * that says what to do: when the package `libsql` or the folder of the file is missing, or it is not a store, or one of a
 * newer version.
 *
 * @param file absolute path
 */
export async function inspectStore(file: string): Promise<StoreFacts> {
  const driver = findDriver();
  try {
    const bytes = await measure(file);
    if (bytes === undefined) {
      // Rejects when there is none.
      await stat(dirname(file));
      return { bytes, runs: 0, isOpen: false };
    }
    const allBytes = bytes + ((await measure(`${file}-wal`)) ?? 0);
    const Driver = createRequire(import.meta.url)(driver) as typeof Database;
    const open = (path: string): Database.Database => new Driver(path);
    return { bytes: allBytes, runs: countRuns(file, open), isOpen: isLockedBySomebody(file, open) };
  } catch (error) {
    throw await cannotOpen(file, error);
  }
}

async function measure(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Looks whether a process has the lock of the file, without waiting for it. */
export function isLockedBySomebody(file: string, open: OpenFile): boolean {
  if (!existsSync(`${file}.lock`)) return false;
  const lock = open(`${file}.lock`);
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return false;
  } catch (error) {
    if (isLocked(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}

function countRuns(file: string, open: OpenFile): number {
  const index = `${file}-shm`;
  const hadIndex = existsSync(index);
  const database = openReader(file, open);
  try {
    assertOurs(database);
    const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'run'").all();
    if (table.length === 0) return 0;
    const [count] = database.prepare('SELECT count(*) AS runs FROM run WHERE removed = 0').all() as {
      runs: number;
    }[];
    return count?.runs ?? 0;
  } finally {
    database.close();
    // After a crash, SQLite writes the index, and it would stay: as a file of whoever asks, and not of the server.
    if (!hadIndex) rmSync(index, { force: true });
  }
}
