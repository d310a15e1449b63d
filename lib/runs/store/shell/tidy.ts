import { rmSync } from 'node:fs';
import type Database from 'libsql';
import { HISTORY_LIMITS } from '../../../common/limits.js';
import { readPragma } from '../sqlite/thread/cleaner.js';
import { markRemoved } from '../sqlite/thread/commit.js';
import { type OpenFile, openReadOnly } from '../sqlite/thread/connection.js';
import { isOutdated } from '../sqlite/thread/schema.js';
import { inTransaction, selectAll } from '../sqlite/thread/statements.js';
import { findSources, type KeptRow, readKeptRows } from './kept-rows.js';
import { copyRuns, empty } from './copy-runs.js';
import { checkpoint, endInterrupted, type OwnedFile, tryOpen } from './shell-file.js';
import type { ShellFolder } from './shell-folder.js';

export interface HistoryLimits {
  readonly runs: number;
  readonly bytes: number;
}

/**
 * Moves the runs of files that no shell writes any more to the first one, which this process writes.
 *
 * @param now milliseconds since 1970
 */
export function takeOver(
  { number, database }: OwnedFile,
  folder: ShellFolder,
  open: OpenFile,
  now: number,
): void {
  if (number !== 1) return;
  for (const path of otherFiles(folder, number)) {
    const left = tryOpen(folder, folder.numberOf(path), open);
    if (left === undefined) continue;
    try {
      endInterrupted(left.database, now);
      copyRuns(left.database, database);
      // The copies are on the disk before the runs leave their file.
      checkpoint(database);
      if (isUnread(left.database)) remove(path);
      else empty(left.database);
    } finally {
      // Its lock stays as a file: another shell may be about to open it.
      left.close();
    }
  }
}

function otherFiles(folder: ShellFolder, number: number): string[] {
  return folder.files().filter((path) => path !== folder.file(number));
}

function remove(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
}

/** True when nobody reads the file: it is then no file of a write-ahead log any more. */
function isUnread(database: Database.Database): boolean {
  try {
    database.exec('PRAGMA busy_timeout = 0');
    database.exec('PRAGMA journal_mode = DELETE');
    return true;
  } catch {
    return false;
  }
}

/** Takes the runs out of the file that somebody has deleted meanwhile. */
export function removeMarked(database: Database.Database, folder: ShellFolder): void {
  const marked = folder.removals();
  if (marked.size === 0) return;
  const removed = readKeptRows(database).filter(({ id }) => marked.has(id));
  removeRows(database, removed);
  for (const { id } of removed) folder.endRemoval(id);
}

/**
 * Removes the oldest runs that exceed the limits, but neither the newest, nor one that is at work, nor one whose files a run
 * that stays may use.
 */
export function pruneHistory(
  { database, number }: OwnedFile,
  folder: ShellFolder,
  open: OpenFile,
  limits: HistoryLimits = HISTORY_LIMITS,
): void {
  const rows = readKeptRows(database);
  const withFiles = folder.runsWithFiles();
  const fileBytes = new Map(
    rows.flatMap(({ id }) => (withFiles.has(id) ? [[id, folder.measureFiles(id)] as const] : [])),
  );
  const staying = countStaying(database, rows, fileBytes, limits);
  if (staying === rows.length) return;
  const leaving = rows.slice(staying);
  const atWork = leaving.filter(({ state, finishedAt }) => state === 0 && finishedAt === null);
  const others = readOthers(folder, number, open);
  const users = [...rows.slice(0, staying), ...atWork, ...others].map(({ id }) => id);
  const needed = new Set([
    ...atWork.map(({ id }) => id),
    ...[...findSources(users, [...rows, ...others], withFiles).values()].flat(),
  ]);
  removeRows(
    database,
    leaving.filter(({ id }) => !needed.has(id)),
  );
}

/** The runs of other shells. */
function readOthers(folder: ShellFolder, number: number, open: OpenFile): KeptRow[] {
  return otherFiles(folder, number).flatMap((path) => {
    const database = openReadOnly(path, open);
    if (database === undefined) return [];
    try {
      return isOutdated(database) ? [] : readKeptRows(database);
    } finally {
      database.close();
    }
  });
}

/** How many of the newest runs stay. */
function countStaying(
  database: Database.Database,
  rows: readonly KeptRow[],
  fileBytes: ReadonlyMap<string, number>,
  limits: HistoryLimits,
): number {
  const most = Math.min(rows.length, Math.max(1, limits.runs));
  const pages = readPragma(database, 'page_count') - readPragma(database, 'freelist_count');
  let bytes = pages * readPragma(database, 'page_size');
  for (const size of fileBytes.values()) bytes += size;
  if (bytes <= limits.bytes) return most;
  const sizes = new Map(
    selectAll<{ readonly run: number; readonly bytes: number }>(
      database,
      'SELECT run, total(octet_length(text)) AS bytes FROM piece GROUP BY run',
    ).map((size) => [size.run, size.bytes]),
  );
  bytes = 0;
  for (const [index, { number, id, bytes: packed }] of rows.slice(0, most).entries()) {
    bytes += (packed ?? 0) + (sizes.get(number) ?? 0) + (fileBytes.get(id) ?? 0);
    if (bytes > limits.bytes) return Math.max(1, index);
  }
  return most;
}

function removeRows(database: Database.Database, rows: readonly KeptRow[]): void {
  if (rows.length === 0) return;
  inTransaction(database, () => {
    for (const row of rows) markRemoved(database, row);
  });
}
