import type Database from 'libsql';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import type { RunSummary } from '../../../common/wire/run-summary.js';
import type { Fact } from '../../../execution/history/fact.js';
import { isInsideAttempt } from '../../../execution/history/nested-places.js';
import type { SavedCommand, StoredFact, StoredRun, StoredSubmission } from '../run-store.js';
import { Cleaner, removeFiles } from '../sqlite/thread/cleaner.js';
import { isLockedBySomebody, type OpenFile, openReadOnly } from '../sqlite/thread/connection.js';
import { explainSqlite } from '../sqlite/open-errors.js';
import { parseSubmission, type StoredDocument } from '../sqlite/stored-documents.js';
import { listDocuments } from '../sqlite/thread/documents.js';
import { SUMMARY_COLUMNS, type SummaryRow, toListedRun } from '../sqlite/thread/run-columns.js';
import { assertOurs, isOutdated } from '../sqlite/thread/schema.js';
import { inSnapshot, selectAll } from '../sqlite/thread/statements.js';
import { bringOver, type ProcessTable } from './old-folders.js';
import { findSources, type KeptRow, readKeptRows } from './kept-rows.js';
import { closeFile, loadHistoryDriver, tryOpen } from './shell-file.js';
import { ShellFolder } from './shell-folder.js';
import { removeMarked } from './tidy.js';

/** A run of the shell. */
export interface ShellRun extends StoredRun {
  readonly command: SavedCommand;
}

/** A run with all that is kept of it. */
export interface RunWithFacts {
  readonly run: ShellRun;
  readonly facts: readonly StoredFact[];
}

interface ListedRow extends KeptRow {
  readonly file: string;
}

/** The runs that the shell has kept in a folder (D68), as they are when it is opened. Reading changes no file. */
export class KeptRuns {
  readonly path: string;
  readonly #folder: ShellFolder;
  readonly #open: OpenFile;
  readonly #rows: ReadonlyMap<string, ListedRow>;
  readonly #summaries: ReadonlyMap<string, RunSummary>;
  /** By file: whether a shell has it. */
  readonly #owned = new Map<string, boolean>();

  private constructor(folder: ShellFolder, open: OpenFile) {
    this.path = folder.path;
    this.#folder = folder;
    this.#open = open;
    const rows: ListedRow[] = [];
    const summaries = new Map<string, RunSummary>();
    const removed = folder.removals();
    for (const file of folder.files()) {
      readFile(file, folder, open, (database) => {
        for (const row of readKeptRows(database)) if (!removed.has(row.id)) rows.push({ ...row, file });
        for (const summary of readSummaries(database)) summaries.set(summary.run_id, summary);
      });
    }
    rows.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    this.#rows = new Map(rows.map((row) => [row.id, row]));
    this.#summaries = summaries;
  }

  /**
   * Reads which runs there are; brings those over first that an earlier version has kept, each in a folder.
   *
   * @param path such as `/home/ada/project/.wavetrain`; it need not exist
   * @throws WavetrainError `bad_usage` without the package `libsql`
   */
  static open(path: string, processes: ProcessTable, now: number): KeptRuns {
    const folder = new ShellFolder(path);
    const open = loadHistoryDriver();
    explain(path, () => {
      if (folder.hasOldRuns) bringOver(folder, open, processes, now);
    });
    return new KeptRuns(folder, open);
  }

  /** For the store that shows one of the runs. */
  get places(): { readonly place: string; readonly filesFolder: string } {
    return { place: this.path, filesFolder: this.#folder.runs };
  }

  /** The ids of the runs, the newest first. */
  ids(): string[] {
    return [...this.#rows.keys()];
  }

  read(id: string): ShellRun | undefined {
    const row = this.#rows.get(id);
    const kept = row && this.#readSubmission(id);
    if (row === undefined || kept === undefined) return undefined;
    const { command, ...submission } = kept;
    if (command === undefined) return undefined;
    return { id, number: row.number, createdAt: row.createdAt, submission, command };
  }

  /** How a run has ended; undefined when it has not settled. */
  summary(id: string): RunSummary | undefined {
    return this.#summaries.get(id);
  }

  /** Reads a run with its facts. One that has not settled ends as if it had been stopped. */
  withFacts(run: ShellRun): RunWithFacts {
    const facts = this.#read(
      run.id,
      ([submission, ...lists]) => submission && lists.flatMap(({ text }) => JSON.parse(text) as StoredFact[]),
    );
    return { run, facts: endFacts(run, facts ?? []) };
  }

  /** Returns true when a run has not settled, and its shell is there: it has the file. */
  isAtWork(id: string): boolean {
    const row = this.#rows.get(id);
    return row !== undefined && row.state === 0 && row.finishedAt === null && this.#isOwned(row.file);
  }

  /** By id of the runs, those whose files each may use. */
  sourcesOf(ids: readonly string[]): ReadonlyMap<string, readonly string[]> {
    return findSources(ids, [...this.#rows.values()], this.#folder.runsWithFiles());
  }

  /** Returns true when a shell has the file of a run, settled or not. */
  isInUse(id: string): boolean {
    const row = this.#rows.get(id);
    return row !== undefined && this.#isOwned(row.file);
  }

  /** Deletes runs, but those in files that other processes have. Resolves with the number of those that were deleted. */
  async removeUnused(ids: readonly string[]): Promise<number> {
    const byFile = new Map<string, string[]>();
    for (const id of ids) {
      const file = this.#rows.get(id)?.file;
      if (file !== undefined) byFile.set(file, [...(byFile.get(file) ?? []), id]);
    }
    let deleted = 0;
    for (const [file, runs] of byFile) if (await this.#removeFrom(file, runs)) deleted += runs.length;
    return deleted;
  }

  /** Deletes runs. Those in the file of a shell at work leave the lists, and are deleted by that one or the next. */
  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#folder.markRemoved(id);
    const files = new Set(ids.flatMap((id) => this.#rows.get(id)?.file ?? []));
    for (const file of files) await this.#removeFrom(file);
  }

  /**
   * Deletes the runs of a file that are marked. Resolves with false when another process has the file.
   *
   * @param ids are marked once this process has the file
   */
  async #removeFrom(path: string, ids: readonly string[] = []): Promise<boolean> {
    const file = tryOpen(this.#folder, this.#folder.numberOf(path), this.#open);
    if (file === undefined) return false;
    for (const id of ids) this.#folder.markRemoved(id);
    const { runs } = this.#folder;
    removeMarked(file.database, this.#folder);
    await new Cleaner(file.database, (runId) => removeFiles(runs, runId)).cleanOnce();
    closeFile(file);
    return true;
  }

  #isOwned(file: string): boolean {
    let isOwned = this.#owned.get(file);
    if (isOwned === undefined) this.#owned.set(file, (isOwned = isLockedBySomebody(file, this.#open)));
    return isOwned;
  }

  #readSubmission(id: string): StoredSubmission | undefined {
    return this.#read(id, ([submission]) => submission && parseSubmission(submission));
  }

  /**
   * Reads the documents of a run, which may have moved to another file.
   *
   * @param read returns undefined when there are none
   */
  #read<T>(id: string, read: (documents: Iterable<StoredDocument>) => T | undefined): T | undefined {
    let result: T | undefined;
    for (const file of this.#folder.files()) {
      readFile(file, this.#folder, this.#open, (database) => {
        // A shell may number the runs anew meanwhile, and a command may pack them.
        result = inSnapshot(database, () => read(listDocuments(database, id)));
      });
      if (result !== undefined) return result;
    }
    return undefined;
  }
}

/** Calls the function with a file. Does nothing when that is gone: its runs are in another one. */
function readFile(
  file: string,
  folder: ShellFolder,
  open: OpenFile,
  read: (database: Database.Database) => void,
): void {
  explain(file, () => readAny(file, folder, open, read));
}

/** @throws WavetrainError `unreadable_file` that says what the driver or the system say */
function explain(path: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const message = `cannot read ${path}: ${explainSqlite(errorMessage(cause))}`;
    throw new WavetrainError('unreadable_file', message, { cause });
  }
}

function readAny(
  file: string,
  folder: ShellFolder,
  open: OpenFile,
  read: (database: Database.Database) => void,
): void {
  let database = openReadOnly(file, open);
  if (database !== undefined && isOutdated(database)) {
    assertOurs(database);
    database.close();
    const owned = tryOpen(folder, folder.numberOf(file), open);
    if (owned !== undefined) closeFile(owned);
    database = openReadOnly(file, open);
  }
  if (database === undefined) return;
  try {
    assertOurs(database);
    // A shell has created it, and not yet its tables.
    if (!isOutdated(database)) read(database);
  } finally {
    database.close();
  }
}

function readSummaries(database: Database.Database): readonly RunSummary[] {
  const sql = `SELECT ${SUMMARY_COLUMNS} FROM run WHERE removed = 0 AND state > 0`;
  return selectAll<SummaryRow>(database, sql).map((row) => toListedRun(row).summary);
}

/**
 * The facts of a run as if it had been stopped after the last of them. Pipelines that were at work inside an attempt are
 * left out: rebuilding them would call the tool of that attempt.
 */
function endFacts({ createdAt }: ShellRun, facts: readonly StoredFact[]): readonly StoredFact[] {
  const last = facts.at(-1);
  const latest: Fact | undefined = last !== undefined && 'kind' in last ? last : undefined;
  if (latest?.kind === 'settled') return facts;
  const at = latest?.at ?? createdAt;
  const known = facts.filter((fact) => !('place' in fact && isInsideAttempt(fact.place)));
  return [...known, { kind: 'cancel', at, force: true }, { kind: 'settled', at }];
}
