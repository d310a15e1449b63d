import { closeSync, fdatasyncSync, openSync, statSync } from 'node:fs';
import type { Batch } from '../commit-queue.js';
import { Cleaner, removeFiles } from '../sqlite/thread/cleaner.js';
import { keep } from '../sqlite/thread/commit.js';
import type { OpenFile } from '../sqlite/thread/connection.js';
import { RunsAtWork } from '../sqlite/thread/runs-at-work.js';
import { inTransaction } from '../sqlite/thread/statements.js';
import { checkpoint, closeFile, loadHistoryDriver, openFirstFree, type OwnedFile } from './shell-file.js';
import type { ShellFolder } from './shell-folder.js';
import { type HistoryLimits, pruneHistory, removeMarked, takeOver } from './tidy.js';

/** A short run is not held up by what the history needs besides: that is done at its end. */
const TIDY_AFTER_MS = 500;

/** So much is written to the log of the file before it goes into the file itself, which takes time. */
const LOG_BYTES = 4 * 2 ** 20;

/** So much of the log is left to the next shell: each reads all of it before it begins. */
const LOG_BYTES_LEFT = 2 ** 20;

/**
 * Writes the runs of a shell to a file that no other one writes, in the thread of the runs: a thread of its own takes as long
 * to start as a short run takes. What is kept is handed to the system, and only the end waits for the disk.
 */
export class HistoryWriter {
  readonly #folder: ShellFolder;
  readonly #now: () => number;
  readonly #limits: HistoryLimits | undefined;
  #opened: Opened | undefined;
  #isClosed = false;

  /** @param now milliseconds since 1970. @param limits default: `HISTORY_LIMITS` */
  constructor(folder: ShellFolder, now: () => number, limits?: HistoryLimits) {
    this.#folder = folder;
    this.#now = now;
    this.#limits = limits;
  }

  /** Keeps a batch; the first one opens a file, or creates it. Throws what the driver and the system throw. */
  keep(batch: Batch): void {
    if (this.#isClosed) return;
    this.#opened ??= this.#open();
    const { file, openedAt, runsAtWork: runs } = this.#opened;
    inTransaction(file.database, () => keep(file.database, batch, { runs, isOfServer: false }));
    if (this.#now() - openedAt > TIDY_AFTER_MS) this.#tidy(this.#opened);
    this.#opened.written += batch.pieces.reduce((sum, { text }) => sum + text.length, 0);
    if (this.#opened.written < LOG_BYTES) return;
    this.#opened.written = 0;
    checkpoint(file.database);
  }

  /** Waits for the disk, and lets other shells have the file. Never throws: what was kept stays kept. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened === undefined) return;
    this.#tidy(opened);
    const { file } = opened;
    const { runs } = this.#folder;
    const cleaner = new Cleaner(file.database, (runId) => removeFiles(runs, runId));
    await cleaner.cleanOnce().catch(() => undefined);
    // The next shell takes the other files over, and needs all of them.
    if (file.number > 1) return closeFile(file);
    if (sizeOfLog(file.path) > LOG_BYTES_LEFT) attempt(() => checkpoint(file.database));
    flushLog(file.path);
    file.release();
  }

  #open(): Opened {
    const open = loadHistoryDriver();
    const openedAt = this.#now();
    const file = openFirstFree(this.#folder, open, openedAt);
    const runsAtWork = new RunsAtWork(file.database);
    return { open, file, openedAt, runsAtWork, written: sizeOfLog(file.path), isTidy: false };
  }

  /** Never throws: the run of this shell does not depend on it, and the next one tries again. */
  #tidy(opened: Opened): void {
    if (opened.isTidy) return;
    opened.isTidy = true;
    const { file, open } = opened;
    const folder = this.#folder;
    attempt(() => removeMarked(file.database, folder));
    attempt(() => takeOver(file, folder, open, this.#now()));
    attempt(() => pruneHistory(file, folder, open, this.#limits));
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // A disk that is full, or a file of a newer version.
  }
}

interface Opened {
  readonly open: OpenFile;
  readonly file: OwnedFile;
  readonly openedAt: number;
  readonly runsAtWork: RunsAtWork;
  /** Characters that were written to the log, about. */
  written: number;
  isTidy: boolean;
}

function sizeOfLog(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Cheaper than to write everything into the file itself, which a later shell does. */
function flushLog(path: string): void {
  try {
    const log = openSync(`${path}-wal`, 'r+');
    try {
      fdatasyncSync(log);
    } finally {
      closeSync(log);
    }
  } catch {
    // The system has it.
  }
}
