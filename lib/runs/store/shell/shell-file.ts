import type Database from 'libsql';
import { openWriter, type OpenFile, type WritableFile } from '../sqlite/thread/connection.js';
import { isLocked, loadDriver } from '../sqlite/open-errors.js';
import { rangeOfParts } from '../sqlite/thread/packing.js';
import { PARTS_PER_RUN } from '../sqlite/thread/schema.js';
import { completeRows, removeUnfinished } from '../sqlite/thread/run-heads.js';
import { prepare, selectAll } from '../sqlite/thread/statements.js';
import type { ShellFolder } from './shell-folder.js';

/** A reader that leaves may checkpoint, and has the file for a moment. */
const WAIT_MS = 5000;

/** A file of the folder that this process writes. */
export interface OwnedFile extends WritableFile {
  readonly path: string;
  /** 1 for `runs.db`. */
  readonly number: number;
}

/** Loads the package `libsql`. @throws WavetrainError `bad_usage` that says how to install it */
export function loadHistoryDriver(): OpenFile {
  return loadDriver('the history of the shell');
}

/** Opens the first file that no other shell writes, or creates one. @param now milliseconds since 1970 */
export function openFirstFree(folder: ShellFolder, open: OpenFile, now: number): OwnedFile {
  folder.make();
  for (let number = 1; ; number++) {
    const owned = tryOpen(folder, number, open);
    if (owned === undefined) continue;
    endInterrupted(owned.database, now);
    return owned;
  }
}

/** Opens a file to write it; undefined when another shell does. */
export function tryOpen(folder: ShellFolder, number: number, open: OpenFile): OwnedFile | undefined {
  const path = folder.file(number);
  const openPatiently: OpenFile = (file) => {
    const database = open(file);
    if (file === path) database.exec(`PRAGMA busy_timeout = ${WAIT_MS}`);
    return database;
  };
  try {
    // Another file is there at once.
    const file = openWriter(path, openPatiently, 0);
    // The shell promises nothing to others: the disk is waited for once, at the end.
    file.database.exec('PRAGMA synchronous = NORMAL');
    file.database.exec('PRAGMA wal_autocheckpoint = 0');
    return { ...file, path, number };
  } catch (error) {
    if (isLocked(error)) return undefined;
    throw error;
  }
}

/** Writes the log into the file itself, and waits for the disk. While somebody reads the log, it stays. */
export function checkpoint(database: Database.Database): void {
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Writes everything to the file itself, waits for the disk, and lets others have the file. */
export function closeFile(file: OwnedFile): void {
  checkpoint(file.database);
  file.close();
}

/** The runs that have not settled are at work no more: this process has their file. @param now milliseconds since 1970 */
export function endInterrupted(database: Database.Database, now: number): void {
  removeUnfinished(database);
  completeRows(database);
  const sql = 'UPDATE run SET finished_at = ? WHERE state = 0 AND removed = 0 AND finished_at IS NULL';
  prepare(database, sql).run(now);
}

/** Numbers the runs by the times at which they were accepted, from the first one that is not in its place. */
export function sortByTime(database: Database.Database): void {
  const rows = selectAll<{ readonly number: number }>(
    database,
    'SELECT number FROM run ORDER BY created_at, id',
  );
  const numbers = rows.map(({ number }) => number);
  const sorted = numbers.toSorted((a, b) => a - b);
  const moved = numbers.flatMap((from, index) => {
    const to = sorted[index] ?? 0;
    return to === from ? [] : [{ from, to }];
  });
  // No two runs have one number meanwhile.
  for (const { from } of moved) renumber(database, from, -from);
  for (const { from, to } of moved) renumber(database, -from, to);
}

function renumber(database: Database.Database, from: number, to: number): void {
  prepare(database, 'UPDATE piece SET run = ? WHERE run = ?').run(to, from);
  prepare(database, 'UPDATE run_text SET number = ? WHERE number = ?').run(to, from);
  prepare(database, 'UPDATE label SET number = ? WHERE number = ?').run(to, from);
  prepare(database, 'UPDATE packed SET n = n + ? WHERE n >= ? AND n < ?').run(
    (to - from) * PARTS_PER_RUN,
    ...rangeOfParts(from),
  );
  prepare(database, 'UPDATE run SET number = ? WHERE number = ?').run(to, from);
}
