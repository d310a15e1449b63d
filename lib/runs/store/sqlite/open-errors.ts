import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type Database from 'libsql';
import { errorCode, errorMessage, WavetrainError } from '../../../common/errors.js';

/** The path of the package `libsql`. @param user needs it. @throws WavetrainError `bad_usage` that says how to install it */
export function findDriver(user = 'SERVICE_STORE'): string {
  try {
    return createRequire(import.meta.url).resolve('libsql');
  } catch (cause) {
    throw new WavetrainError(
      'bad_usage',
      `${user} needs the package libsql: install it with "npm install libsql" where Wavetrain is installed`,
      { cause },
    );
  }
}

/** Loads the package `libsql`. @param user needs it. @throws WavetrainError `bad_usage` that says how to install it */
export function loadDriver(user?: string): (file: string) => Database.Database {
  let Driver: typeof Database;
  try {
    Driver = createRequire(import.meta.url)('libsql') as typeof Database;
  } catch (error) {
    // To look for it first would take time at each run of the shell.
    if (errorCode(error) === 'MODULE_NOT_FOUND') findDriver(user);
    throw error;
  }
  return (path) => new Driver(path);
}

/** Says what keeps a file from being opened as a store, and what to do. */
export async function cannotOpen(file: string, cause: unknown): Promise<WavetrainError> {
  const said = errorMessage(cause);
  // SQLite says so of a file whose folder is read-only, and of much else.
  const message = /I\/O error/i.test(said) && !(await isWritable(file)) ? 'readonly' : said;
  return new WavetrainError('bad_usage', `the store ${file} cannot be opened: ${explainSqlite(message)}`, {
    cause,
  });
}

/** Returns what a message of SQLite means here; the message itself when that is not known. */
export function explainSqlite(message: string): string {
  return REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? message;
}

/** The file is not opened: the locks of this process would go when it is closed. */
async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const LOCKED = /locked|busy/i;

/** Returns true when an error says that another process has a file open. */
export function isLocked(error: unknown): boolean {
  return LOCKED.test(errorMessage(error));
}

/** The messages of SQLite, and their meaning here. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [LOCKED, 'another process has it open: stop that one, or name another file'],
  [/malformed|corrupt/i, 'it is broken: restore a copy of it, or name another file'],
  [/not a database/i, 'it is not a database: name another file'],
  [
    /unable to open|unable to read|cannot open|ENOENT|ENOTDIR|EISDIR/i,
    'its folder must exist and be writable',
  ],
  [
    /readonly|read-only|EACCES|EPERM|EROFS/i,
    'it is read-only: allow writing to it and to its folder, or name another file',
  ],
];
