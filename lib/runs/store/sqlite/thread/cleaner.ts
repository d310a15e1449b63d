import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type Database from 'libsql';
import { completeClock } from '../../../../common/clock.js';
import { isInOwnFolders } from '../../../../execution/invocation/files/own-folder.js';
import { packRuns, rangeOfParts } from './packing.js';
import { countSlice, uncountFiles } from './retention/usage.js';
import { inTransaction, prepare, selectAll, selectOne } from './statements.js';

/** So much of removed runs is deleted with one commit, in rows and in bytes: others wait for it. */
const ROWS_PER_SLICE = 200;
const BYTES_PER_SLICE = 2 * 2 ** 20;

/** So many slices are deleted before the file is closed: about a second of work. The rest is deleted by the next process. */
const SLICES_AT_CLOSE = 100;

/** Between two slices, others have the disk for so long. */
const CLEANING_DELAY_MS = 10;

/** Runs are packed for so long with one commit, in milliseconds. */
const PACKING_MS = 3;

/** Packing waits until nothing was committed for so long, unless too many runs wait for it: commits come first. */
const QUIET_MS = 100;
const MAX_UNPACKED = 20_000;

/** So many free pages are given back with one commit: more would let others wait. */
const PAGES_PER_COMMIT = 64;

/** Free pages are used again first: a file that shrinks only to grow again moves its newest pages for nothing. */
const FREE_SHARE = 0.1;

/** Values of `removed`; 0: the run is kept. */
const TO_BE_DELETED = 1;
/** Only the files of the run are left, for the reruns that use them. */
const FILES_ONLY = 2;
/** Nothing uses the files any more: they are being removed, and the row goes after them. */
const WITHOUT_USERS = 3;

/** Removes the files of a run. */
type RemoveFiles = (runId: string) => Promise<void>;

/** Packs settled runs, deletes removed ones with their files, and gives their room back to the disk, a slice at a time. */
export class Cleaner {
  readonly #database: Database.Database;
  readonly #removeFiles: RemoveFiles;
  readonly #clock = completeClock();
  readonly #removals = new Set<Promise<void>>();
  #isAtWork = false;
  /** Until all runs of an earlier version are counted. */
  #isUncounted = true;
  /** About how many settled runs are to be packed. */
  #unpacked = 0;
  #committedAt = Number.NEGATIVE_INFINITY;

  constructor(database: Database.Database, removeFiles: RemoveFiles) {
    this.#database = database;
    this.#removeFiles = removeFiles;
  }

  /** Goes on with what the last process has left. */
  start(): void {
    this.#resume();
    this.wake();
  }

  #resume(): void {
    const sql = `SELECT id FROM run INDEXED BY run_without_users WHERE removed = ${WITHOUT_USERS}`;
    for (const { id } of selectAll<{ id: string }>(this.#database, sql)) this.#removeFilesOf(id);
  }

  /** Call after each commit. @param ends of runs that have settled */
  onCommit(ends: number): void {
    this.#committedAt = this.#clock.monotonicNow();
    this.#unpacked += ends;
    if (ends > 0) this.wake();
  }

  wake(): void {
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    setTimeout(() => {
      this.#isAtWork = false;
      this.clean();
    }, CLEANING_DELAY_MS);
  }

  /**
   * Deletes removed runs at once, as `start` and `finish` do, and nothing later: somebody else may write the file then. Packs
   * nothing, which would hold up the end of a shell.
   */
  async cleanOnce(): Promise<void> {
    this.#isAtWork = true;
    this.#resume();
    for (let slices = 0; slices < SLICES_AT_CLOSE && this.#deleteSlice(); slices++);
    await Promise.all(this.#removals);
  }

  /** Deletes as much as the end of the process has time for. */
  async finish(): Promise<void> {
    this.#committedAt = Number.NEGATIVE_INFINITY;
    for (let slices = 0; slices < SLICES_AT_CLOSE && this.#cleanSlice(); slices++);
    await Promise.all(this.#removals);
  }

  /** Does a slice of the work now, and goes on later with what is left. */
  clean(): void {
    try {
      if (this.#database.open && this.#cleanSlice()) this.wake();
    } catch {
      // The next request to keep something learns that the disk is full, or has failed.
    }
  }

  /** Returns false when nothing is left to do. */
  #cleanSlice(): boolean {
    const isUnpacked = this.#packSlice();
    this.#isUncounted &&= countSlice(this.#database);
    return this.#deleteSlice() || isUnpacked || this.#isUncounted;
  }

  /** Also gives room back. Returns false when nothing is left to do. */
  #deleteSlice(): boolean {
    const withoutUsers: string[] = [];
    const hasMore = deleteSlice(this.#database, withoutUsers);
    for (const id of withoutUsers) this.#removeFilesOf(id);
    return giveBack(this.#database) || hasMore;
  }

  /** Returns false when every settled run is packed. */
  #packSlice(): boolean {
    const startedAt = this.#clock.monotonicNow();
    const isBusy = startedAt - this.#committedAt < QUIET_MS;
    if (isBusy && this.#unpacked < MAX_UNPACKED) return this.#unpacked > 0;
    const hasTime = (): boolean => this.#clock.monotonicNow() - startedAt < PACKING_MS;
    const packed = packRuns(this.#database, hasTime);
    this.#unpacked = packed === 0 ? 0 : Math.max(0, this.#unpacked - packed);
    return packed > 0;
  }

  #removeFilesOf(runId: string): void {
    const removal = this.#removeFiles(runId)
      .then(() => deleteWithoutUsers(this.#database, runId))
      // The next process tries again.
      .catch(() => undefined)
      .finally(() => {
        this.#removals.delete(removal);
        if (this.#database.open) this.wake();
      });
    this.#removals.add(removal);
  }
}

interface RemovedRow {
  readonly number: number;
  readonly id: string;
  readonly rerunOf: string | null;
  /** Null when the run has not settled. */
  readonly artifacts: number | null;
}

/**
 * Deletes a slice of the runs that are removed. Returns false when nothing is left to be deleted.
 *
 * @param withoutUsers receives the runs whose files are to be removed
 */
function deleteSlice(database: Database.Database, withoutUsers: string[]): boolean {
  const left: SliceRoom = { rows: ROWS_PER_SLICE, bytes: BYTES_PER_SLICE };
  let hasMore = findRemoved(database) !== undefined;
  if (!hasMore) return false;
  inTransaction(database, () => {
    while (left.rows > 0 && left.bytes > 0 && hasMore) {
      const row = findRemoved(database);
      hasMore = row !== undefined;
      if (row === undefined) break;
      deletePieces(database, row.number, left);
      deleteParts(database, row.number, left);
      // The pieces of the run may have used up the slice.
      if (left.rows > 0 && left.bytes > 0) {
        left.rows--;
        if (endRow(database, row)) withoutUsers.push(row.id);
      }
    }
  });
  return hasMore;
}

function findRemoved(database: Database.Database): RemovedRow | undefined {
  return selectOne<RemovedRow>(
    database,
    `SELECT number, id, rerun_of AS rerunOf, artifacts FROM run INDEXED BY run_removed WHERE removed = ${TO_BE_DELETED} LIMIT 1`,
  );
}

/** How much of removed runs may still be deleted with a commit. */
interface SliceRoom {
  rows: number;
  bytes: number;
}

function deletePieces(database: Database.Database, run: number, left: SliceRoom): void {
  const sizes = 'SELECT n, octet_length(text) AS bytes FROM piece WHERE run = ? ORDER BY n LIMIT ?';
  const last = takeRows(selectAll<SizedRow>(database, sizes, run, left.rows), left);
  prepare(database, 'DELETE FROM piece WHERE run = ? AND n <= ?').run(run, last);
}

function deleteParts(database: Database.Database, run: number, left: SliceRoom): void {
  const [first, end] = rangeOfParts(run);
  const sizes = 'SELECT n, length(data) AS bytes FROM packed WHERE n >= ? AND n < ? ORDER BY n LIMIT ?';
  const last = takeRows(selectAll<SizedRow>(database, sizes, first, end, left.rows), left);
  prepare(database, 'DELETE FROM packed WHERE n >= ? AND n <= ?').run(first, last);
}

interface SizedRow {
  readonly n: number;
  readonly bytes: number;
}

/** Returns the last of the rows for which there is room, and takes the room; -1 when there is none. */
function takeRows(rows: readonly SizedRow[], left: SliceRoom): number {
  let last = -1;
  for (const { n, bytes } of rows) {
    if (left.bytes <= 0) break;
    last = n;
    left.rows--;
    left.bytes -= bytes;
  }
  return last;
}

/** Deletes the row of a run without files. Returns true when the files of the run are to be removed first. */
function endRow(database: Database.Database, row: RemovedRow): boolean {
  if (row.artifacts === 0) {
    deleteRow(database, row);
    return false;
  }
  const isInUse = isRerun(database, row.id);
  // Files that reruns use count for as long as they are there.
  if (!isInUse) uncountFiles(database, row.id);
  setRemoved(database, row.id, isInUse ? FILES_ONLY : WITHOUT_USERS);
  return !isInUse;
}

function deleteWithoutUsers(database: Database.Database, runId: string): void {
  inTransaction(database, () => {
    const sql = `SELECT number, rerun_of AS rerunOf FROM run WHERE id = ? AND removed = ${WITHOUT_USERS}`;
    const row = selectOne<Pick<RemovedRow, 'number' | 'rerunOf'>>(database, sql, runId);
    if (row !== undefined) deleteRow(database, row);
  });
}

/** Also releases the files of the run that this one repeats, when no other one uses them. */
function deleteRow(
  database: Database.Database,
  { number, rerunOf }: Pick<RemovedRow, 'number' | 'rerunOf'>,
): void {
  const definition = selectOne<{ definition: number | null }>(
    database,
    'SELECT definition FROM run WHERE number = ?',
    number,
  )?.definition;
  prepare(database, 'DELETE FROM run WHERE number = ?').run(number);
  if (definition != null) deleteUnusedDefinition(database, definition);
  if (rerunOf === null || isRerun(database, rerunOf)) return;
  const earlier = selectOne<{ removed: number }>(database, 'SELECT removed FROM run WHERE id = ?', rerunOf);
  if (earlier?.removed === FILES_ONLY) setRemoved(database, rerunOf, TO_BE_DELETED);
}

function deleteUnusedDefinition(database: Database.Database, definition: number): void {
  const users =
    'SELECT 1 FROM run INDEXED BY run_by_definition WHERE definition = ? AND definition IS NOT NULL LIMIT 1';
  if (selectOne(database, users, definition) !== undefined) return;
  prepare(database, 'DELETE FROM definition WHERE n = ?').run(definition);
}

function setRemoved(database: Database.Database, runId: string, removed: number): void {
  prepare(database, 'UPDATE run SET removed = ? WHERE id = ?').run(removed, runId);
}

function isRerun(database: Database.Database, id: string): boolean {
  const sql = 'SELECT 1 FROM run INDEXED BY run_rerun WHERE rerun_of = ? AND rerun_of IS NOT NULL LIMIT 1';
  return selectOne(database, sql, id) !== undefined;
}

/** Gives free pages back while they are a large share of the file. Returns false when they are not. */
function giveBack(database: Database.Database): boolean {
  const free = readPragma(database, 'freelist_count');
  if (free <= FREE_SHARE * readPragma(database, 'page_count')) return false;
  database.exec(`PRAGMA incremental_vacuum(${PAGES_PER_COMMIT})`);
  return readPragma(database, 'freelist_count') < free;
}

export function readPragma(database: Database.Database, name: string): number {
  return Number(Object.values(selectOne<object>(database, `PRAGMA ${name}`) ?? {})[0]);
}

/** Removes the files of a run, but nothing that somebody else has put in the place of a folder. */
export async function removeFiles(folder: string, runId: string): Promise<void> {
  const path = join(folder, runId);
  if (await isInOwnFolders(folder, path)) await rm(path, { recursive: true, force: true });
}
