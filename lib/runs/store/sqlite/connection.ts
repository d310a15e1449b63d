import { closeSync, existsSync, openSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type Database from 'libsql';
import { errorCode } from '../../../common/errors.js';
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
 */
export function openWriter(file: string, open: OpenFile): WritableFile {
  createForUser(`${file}.lock`);
  const lock = open(`${file}.lock`);
  try {
    // Nothing is written to this file: a journal of it would wait for the disk.
    lock.exec('PRAGMA journal_mode = OFF');
    // Kept until the process ends or the connection is closed. A second process is refused at once.
    lock.exec('PRAGMA locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
    createForUser(file);
    const database = openDatabase(open(file));
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

/**
 * Creates the file unless it is there, only for the user of the server: it has all that runs were given. The other files of
 * SQLite get its mode. A file that is there is not opened: the system releases the locks that this process has on a file
 * when any descriptor of that file is closed.
 */
function createForUser(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function openDatabase(database: Database.Database): Database.Database {
  // Before anything of the file is changed.
  assertOurs(database);
  // Before anything is written; for a file that is there, it would wait for the disk and change nothing.
  const [{ page_count: pages }] = database.prepare('PRAGMA page_count').all() as [{ page_count: number }];
  if (pages === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA journal_size_limit = 67108864');
  database.exec(`PRAGMA cache_size = -${WRITER_CACHE_KIB}`);
  migrate(database);
  return database;
}

/**
 * Opens a file to read it, beside the connection that writes it. It never checkpoints: SQLite before 3.51.3 may lose commits
 * when two connections do (https://sqlite.org/wal.html#the_wal_reset_bug). Close it before the one that writes.
 */
export function openReader(file: string, open: OpenFile): Database.Database {
  return prepareReader(open(file));
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

function prepareReader(database: Database.Database): Database.Database {
  database.exec('PRAGMA query_only = 1');
  database.exec('PRAGMA wal_autocheckpoint = 0');
  database.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
  return database;
}
