import { existsSync, lstatSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BY_COMMAND_LINE } from '../../../common/wire/started-by.js';
import { endOfPiece } from '../../../common/text.js';
import type { RunSummary } from '../../../common/wire/run-summary.js';
import type { RunEnd } from '../run-archive.js';
import type { SavedCommand, StoredRun } from '../run-store.js';
import { MAX_PIECE_LENGTH, type Piece } from '../run-writer.js';
import { keep, NEXT_NUMBER } from '../sqlite/thread/commit.js';
import type { OpenFile } from '../sqlite/thread/connection.js';
import { inTransaction, selectAll } from '../sqlite/thread/statements.js';
import { closeFile, openFirstFree, sortByTime } from './shell-file.js';
import { listNames, OLD_RUN_FILE, type ShellFolder } from './shell-folder.js';

export interface ProcessTable {
  readonly pid: number;
  /** When this machine was started, in milliseconds since 1970, UTC. */
  readonly bootedAt: number;
  isAlive(pid: number): boolean;
}

/** Has the facts: each line those of one commit. */
const FACT_FILE = 'facts.jsonl';
/** Says how the run ended; missing when it has not settled. */
const SUMMARY_FILE = 'record.json';

const OLD_FILES: ReadonlySet<string> = new Set([OLD_RUN_FILE, FACT_FILE, SUMMARY_FILE]);

/** The clock of a machine may be set by so much while it starts. */
const BOOT_TOLERANCE_MS = 10_000;

/** `run.json`. */
interface OldRun extends StoredRun {
  readonly pid: number;
  readonly command: Omit<SavedCommand, 'pid'>;
}

/**
 * Brings the runs of an earlier version over, all of them or none. The bytes that tools have returned stay where they are.
 * A run that the earlier version is at work on is left to a later shell, and so is one that a crash has torn.
 *
 * @param now milliseconds since 1970
 */
export function bringOver(folder: ShellFolder, open: OpenFile, processes: ProcessTable, now: number): void {
  const runs = listNames(folder.runs).flatMap((id) => {
    const run = readJson(join(folder.runs, id, OLD_RUN_FILE)) as OldRun | undefined;
    return run === undefined || isAtWork(run, folder, processes) ? [] : [run];
  });
  if (runs.length === 0) return;
  const file = openFirstFree(folder, open, now);
  const { database } = file;
  try {
    inTransaction(database, () => {
      // A crash may have kept the folders from being removed.
      const known = new Set(
        selectAll<{ readonly id: string }>(database, 'SELECT id FROM run').map(({ id }) => id),
      );
      const interrupted = database.prepare('UPDATE run SET finished_at = ? WHERE id = ? AND state = 0');
      for (const run of runs) {
        if (known.has(run.id)) continue;
        keep(database, toBatch(run, folder), { isOfServer: false });
        interrupted.run(now, run.id);
      }
      sortByTime(database);
    });
  } finally {
    closeFile(file);
  }
  for (const { id } of runs) removeOldFiles(join(folder.runs, id));
}

function toBatch(run: OldRun, folder: ShellFolder): Parameters<typeof keep>[1] {
  const { id, createdAt, pid, command, submission } = run;
  const { tenant_id: tenantId, idempotency, rerun } = submission;
  const path = join(folder.runs, id);
  const kept = { ...submission, command: { ...command, pid } };
  return {
    added: [
      { id, number: NEXT_NUMBER, createdAt, tenantId, idempotency, priority: 0, rerunOf: rerun?.run_id },
    ],
    pieces: [JSON.stringify(kept), ...readLines(join(path, FACT_FILE))].flatMap((text) => cut(id, text)),
    ends: readEnd(path),
    removed: [],
    addedKeys: [],
    removedKeys: [],
    audit: [],
  };
}

/** The lines of facts, up to the first one that a crash has torn. */
function readLines(path: string): string[] {
  const lines = readText(path)?.split('\n') ?? [];
  const torn = lines.findIndex((line) => parse(line) === undefined);
  return torn === -1 ? lines : lines.slice(0, torn);
}

/** A document in pieces. */
function cut(runId: string, text: string): Piece[] {
  const pieces: Piece[] = [];
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, MAX_PIECE_LENGTH);
    pieces.push({ runId, text: text.slice(from, end), goesOn: end < text.length });
    from = end;
  }
  return pieces;
}

/** Earlier versions have written less. */
function readEnd(path: string): RunEnd[] {
  const summary = readJson(join(path, SUMMARY_FILE)) as OldSummary | undefined;
  if (summary === undefined) return [];
  const { rerun_of: rerunOf, trigger, started_by: startedBy, labels } = summary;
  const others = {
    rerun_of: rerunOf ?? null,
    trigger: trigger ?? null,
    started_by: startedBy ?? BY_COMMAND_LINE,
    labels: labels ?? {},
    priority: 0,
  };
  const artifacts = listNames(path).filter((name) => !OLD_FILES.has(name));
  const artifactBytes = artifacts.reduce(
    (sum, name) => sum + (lstatSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  return [
    { summary: { ...summary, ...others }, cost: undefined, artifactCount: artifacts.length, artifactBytes },
  ];
}

type Recent = 'rerun_of' | 'trigger' | 'started_by' | 'labels' | 'priority';

type OldSummary = Omit<RunSummary, Recent> & Partial<Pick<RunSummary, Recent>>;

function isAtWork({ id, pid, createdAt }: OldRun, folder: ShellFolder, processes: ProcessTable): boolean {
  // Processes in containers often have the same id.
  if (existsSync(join(folder.runs, id, SUMMARY_FILE)) || pid === processes.pid) return false;
  return processes.isAlive(pid) && createdAt > processes.bootedAt - BOOT_TOLERANCE_MS;
}

function removeOldFiles(path: string): void {
  for (const name of [SUMMARY_FILE, FACT_FILE, OLD_RUN_FILE]) rmSync(join(path, name), { force: true });
  if (readdirSync(path).length === 0) rmdirSync(path);
}

function readJson(path: string): unknown {
  return parse(readText(path) ?? '');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
