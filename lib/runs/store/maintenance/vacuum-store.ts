import type Database from 'libsql';
import { WavetrainError } from '../../../common/errors.js';
import { hasLock, lockFile, type OpenFile, removeLock } from '../sqlite/thread/connection.js';
import { isLocked, loadDriver } from '../sqlite/open-errors.js';
import { assertOurs } from '../sqlite/thread/schema.js';
import {
  assertNotEmpty,
  assertStoreExists,
  cannotOpenStore,
  describeWriteError,
  existingFile,
  measureFile,
} from './store-file.js';

/** Bytes of a file before and after its free space was given back. */
export interface VacuumedStore {
  readonly bytes_before: number;
  readonly bytes: number;
}

/**
 * Gives the free space of a store back to the disk, and puts its rows in order. Keeps servers away meanwhile; rejects with
 * `bad_usage` when one has the file open.
 *
 * @param file absolute path
 */
export async function vacuumStore(file: string): Promise<VacuumedStore> {
  const open = loadDriver();
  await assertStoreExists(file);
  await assertNotEmpty(file);
  const before = await measureAll(file);
  const hadLock = hasLock(file);
  const lock = takeLock(file, open);
  try {
    const database = await openToVacuum(file, open, hadLock);
    try {
      database.exec('VACUUM');
      // The rows are in `-wal` until then.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      throw cannotVacuum(file, error);
    } finally {
      database.close();
    }
  } finally {
    lock.close();
  }
  return { bytes_before: before, bytes: await measureAll(file) };
}

async function measureAll(file: string): Promise<number> {
  return ((await measureFile(file)) ?? 0) + ((await measureFile(`${file}-wal`)) ?? 0);
}

function takeLock(file: string, open: OpenFile): Database.Database {
  try {
    return lockFile(file, open);
  } catch (error) {
    if (!isLocked(error)) throw cannotVacuum(file, error);
    throw new WavetrainError(
      'bad_usage',
      `a server has the store ${file} open: stop it first. It gives space back itself while more than a tenth of the file is free`,
      { cause: error },
    );
  }
}

function cannotVacuum(file: string, error: unknown): WavetrainError {
  const reason = `${describeWriteError(error)}: it needs as much room again as the file has, and the file is as it was`;
  return new WavetrainError('bad_usage', `the store ${file} cannot be vacuumed: ${reason}`, { cause: error });
}

async function openToVacuum(file: string, open: OpenFile, hadLock: boolean): Promise<Database.Database> {
  let database: Database.Database | undefined;
  try {
    database = open(existingFile(file));
    assertOurs(database);
    return database;
  } catch (error) {
    database?.close();
    if (!hadLock) removeLock(file);
    throw await cannotOpenStore(file, error);
  }
}
