import { constants, existsSync, rmSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Database from 'libsql';
import { errorCode, errorMessage, WavetrainError } from '../../../common/errors.js';
import { describeErrno } from '../../../common/files.js';
import { isLockedBySomebody, lockFile, type OpenFile, openReader } from '../sqlite/thread/connection.js';
import { cannotOpen, loadDriver } from '../sqlite/open-errors.js';

/** So long does a command wait for a server that opens or closes the file. */
const READ_TIMEOUT_MS = 5000;

/** A store that is open to be read, beside the server that may work with it. */
export interface StoreReader {
  readonly database: Database.Database;
  readonly open: OpenFile;
  /** A server has the file open. */
  readonly isInUse: boolean;
}

interface ReadOptions {
  /** False to write a copy. Default true. */
  readonly isQueryOnly?: boolean;
  /** The work takes some milliseconds: nobody else reads the file meanwhile. Default false. */
  readonly isShort?: boolean;
  /** Says what kept the file from being read. Default {@link cannotOpenStore}. */
  readonly explain?: (file: string, error: unknown) => Promise<WavetrainError> | WavetrainError;
}

/**
 * Opens a store to read it, without its lock, without creating it or bringing it to a new version, and without writing
 * what others have committed into it. Rejects with `bad_usage` that says what to do.
 *
 * @param file absolute path
 */
export async function inspectStore<T>(
  file: string,
  work: (store: StoreReader) => T,
  { isQueryOnly = true, isShort = false, explain = cannotOpenStore }: ReadOptions = {},
): Promise<T> {
  const open = loadDriver();
  await assertStoreExists(file);
  const hadIndex = existsSync(`${file}-shm`);
  try {
    const isInUse = isLockedBySomebody(file, open);
    // A file that has just been removed is not created again.
    const database = openReader(existingFile(file), open, {
      isQueryOnly,
      timeoutMs: READ_TIMEOUT_MS,
    });
    try {
      return work({ database, open, isInUse });
    } finally {
      database.close();
      if (isShort && !hadIndex) removeIndex(file, open);
    }
  } catch (error) {
    throw error instanceof WavetrainError ? error : await explain(file, error);
  }
}

/**
 * Removes the index that SQLite writes when a file is read that no server has open. SQLite removes it itself only when the
 * process ends: until then it would stay, as a file of whoever asks. The lock keeps away a server that would use it.
 */
function removeIndex(file: string, open: OpenFile): void {
  try {
    const lock = existsSync(`${file}.lock`) ? lockFile(file, open) : undefined;
    rmSync(`${file}-shm`, { force: true });
    lock?.close();
  } catch {
    // A server has the file open now, and uses the index.
  }
}

/** The name of a file for SQLite, which does not create it under this name. */
export function existingFile(file: string): string {
  return `${pathToFileURL(file).href}?mode=rw`;
}

/** Says why a file could not be written. */
export function describeWriteError(error: unknown): string {
  return /disk is full/i.test(errorMessage(error)) ? 'the disk is full' : describeErrno(error);
}

/** @throws WavetrainError `bad_usage` */
export async function assertStoreExists(file: string): Promise<void> {
  if ((await measureFile(file)) === undefined) {
    throw new WavetrainError(
      'bad_usage',
      `there is no store ${file}: name its file with --store or SERVICE_STORE; a server creates it when it is started`,
    );
  }
  await access(file, constants.R_OK).catch((cause: unknown) => {
    const advice = 'run the command as the user of the server';
    throw new WavetrainError(
      'bad_usage',
      `the store ${file} cannot be read: ${describeErrno(cause)}: ${advice}`,
      {
        cause,
      },
    );
  });
}

/** Says what keeps a file from being opened: one that is no database is no store. */
export async function cannotOpenStore(file: string, cause: unknown): Promise<WavetrainError> {
  return isNoDatabase(cause) ? notAStore(file, 'it is not a database', cause) : cannotOpen(file, cause);
}

/** Returns true when SQLite says of a file that it is none of its own. */
export function isNoDatabase(error: unknown): boolean {
  return /not a database/i.test(errorMessage(error));
}

function notAStore(file: string, reason: string, cause?: unknown): WavetrainError {
  return new WavetrainError('bad_usage', `${file} is not a store: ${reason}: name another file`, { cause });
}

/** Refuses a file without content, which only a server makes a store. @throws WavetrainError `bad_usage` */
export async function assertNotEmpty(file: string): Promise<void> {
  // The rows of a store may all be in `-wal` still.
  if ((await measureFile(file)) === 0 && !(await measureFile(`${file}-wal`))) {
    throw notAStore(file, 'it is empty');
  }
}

/** Bytes of a file; undefined when it is missing. Rejects when its folder is missing. */
export async function measureFile(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw await cannotOpen(file, error);
  }
  await stat(dirname(file)).catch(async (error: unknown) => {
    throw await cannotOpen(file, error);
  });
  return undefined;
}
