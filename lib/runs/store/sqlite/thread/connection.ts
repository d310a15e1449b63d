import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type Database from 'libsql';
import { errorCode } from '../../../../common/errors.js';
import { isLocked } from '../open-errors.js';
import { assertOurs, migrate } from './schema.js';

export type OpenFile = (file: string) => Database.Database;

/** Memory for pages of the file, in KiB: of the connection that writes, and of the one that reads lists. */
const WRITER_CACHE_KIB = 16 * 1024;
const READER_CACHE_KIB = 32 * 1024;

/** The connection that writes and checkpoints, which a file has once, and the lock that keeps other processes away. */
export interface WritableFile {
  readonly database: Database.Database;
  close(): void;
  /** Lets other processes have the file. The connection, which must not be used any more, closes with the process. */
  release(): void;
}

/**
 * Opens the file to write it, or creates it, and brings it to the version of today. Throws when another process writes it.
 * `FILE.lock` holds the lock, because the connections of the readers need the file: the process must open that name once.
 *
 * @param lockTimeoutMs how long to wait for the lock. Default: longer than it takes to look whether anybody has it
 */
export function openWriter(file: string, open: OpenFile, lockTimeoutMs?: number): WritableFile {
  const hadLock = hasLock(file);
  const lock = lockFile(file, open, lockTimeoutMs);
  try {
    createForUser(file);
    const database = open(file);
    try {
      // Before anything of the file is changed.
      assertOurs(database);
    } catch (error) {
      database.close();
      if (!hadLock) removeLock(file);
      throw error;
    }
    prepareWriter(database);
    return {
      database,
      close: () => {
        database.close();
        lock.close();
      },
      release: () => lock.close(),
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** So long does a process wait for the lock, which others have for a moment when they look whether anybody has it. */
const LOCK_TIMEOUT_MS = 250;

/** Keeps other processes away from a file until the returned connection is closed. Throws when one of them writes it. */
export function lockFile(
  file: string,
  open: OpenFile,
  timeoutMs: number = LOCK_TIMEOUT_MS,
): Database.Database {
  createForUser(`${file}.lock`);
  const lock = open(`${file}.lock`);
  try {
    lock.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
    // Nothing is written to this file: a journal of it would wait for the disk.
    lock.exec('PRAGMA journal_mode = OFF');
    // Kept until the process ends or the connection is closed.
    lock.exec('PRAGMA locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Returns true when there is the file of the lock, whether or not somebody has the lock. */
export function hasLock(file: string): boolean {
  return existsSync(`${file}.lock`);
}

/** Removes the lock that this process has and has created, beside a file that turns out to be of another program. */
export function removeLock(file: string): void {
  try {
    rmSync(`${file}.lock`, { force: true });
  } catch {
    // A system that removes no open file keeps it.
  }
}

/** Looks whether a process has the lock of the file, without taking it. */
export function isLockedBySomebody(file: string, open: OpenFile): boolean {
  if (!hasLock(file)) return false;
  const lock = open(`${file}.lock`);
  try {
    lock.prepare('SELECT 1 FROM sqlite_schema').all();
    return false;
  } catch (error) {
    if (isLocked(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}

/**
 * Creates the file unless it is there, only for the user of the server: it has all that runs were given. The other files of
 * SQLite get its mode. A file that is there is not opened: the system releases the locks that this process has on a file
 * when any descriptor of that file is closed.
 */
export function createForUser(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function prepareWriter(database: Database.Database): void {
  // Before anything is written; for a file that is there, it would wait for the disk and change nothing.
  const [{ page_count: pages }] = database.prepare('PRAGMA page_count').all() as [{ page_count: number }];
  if (pages === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA journal_size_limit = 67108864');
  database.exec(`PRAGMA cache_size = -${WRITER_CACHE_KIB}`);
  migrate(database);
}

interface ReaderOptions {
  /** False for statements that write another file, which SQLite refuses otherwise. Default true. */
  readonly isQueryOnly?: boolean;
  /** How long it waits for others. Default 0: the connection that writes never keeps readers away. */
  readonly timeoutMs?: number;
}

/**
 * Opens a file to read it, beside the connection that writes it. It never checkpoints: SQLite before 3.51.3 may lose commits
 * when two connections do (https://sqlite.org/wal.html#the_wal_reset_bug). Close it before the one that writes.
 */
export function openReader(file: string, open: OpenFile, options?: ReaderOptions): Database.Database {
  return prepareReader(open(file), options);
}

/**
 * Opens a file that other processes may write, without changing it; undefined when it is gone. In a folder that cannot be
 * written, it is read as nobody is writing it.
 */
export function openReadOnly(file: string, open: OpenFile): Database.Database | undefined {
  const { href } = pathToFileURL(file);
  try {
    const database = prepareReader(open(`${href}?mode=ro`));
    database.prepare('PRAGMA schema_version').all();
    return database;
  } catch (error) {
    if (!existsSync(file)) return undefined;
    if (existsSync(`${file}-wal`)) throw error;
    return prepareReader(open(`${href}?immutable=1`));
  }
}

function prepareReader(
  database: Database.Database,
  { isQueryOnly = true, timeoutMs = 0 }: ReaderOptions = {},
): Database.Database {
  if (isQueryOnly) database.exec('PRAGMA query_only = 1');
  if (timeoutMs > 0) database.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
  database.exec('PRAGMA wal_autocheckpoint = 0');
  database.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
  return database;
}
