import { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HISTORY_LIMITS } from '../../common/limits.js';
import { isInOwnFolders } from '../../execution/invocation/own-folder.js';
import type { RunSummary } from '../record.js';
import type { StoredFact, StoredRun } from './run-store.js';

/** The processes of this machine. */
export interface ProcessTable {
  /** The id of this process. */
  readonly pid: number;
  /** When this machine was started, in milliseconds since 1970, UTC. */
  readonly bootedAt: number;
  isAlive(pid: number): boolean;
}

/** The command line of a run, as far as a rerun needs it. Its paths are absolute. */
export interface SavedCommand {
  readonly cwd: string;
  /** Undefined when the definition came from standard input. */
  readonly file?: string;
  readonly tools?: string[];
  readonly mcp?: string;
  readonly model?: string;
  readonly output_folder: string;
}

/** A run of the shell, as `run.json` has it. */
export interface ShellRun extends StoredRun {
  /** The process that runs it, or has run it. */
  readonly pid: number;
  readonly command: SavedCommand;
}

/** The files of a run. */
export const RUN_FILE = 'run.json';
export const FACT_FILE = 'facts.jsonl';
export const SUMMARY_FILE = 'record.json';
const OWN_FILES: ReadonlySet<string> = new Set([RUN_FILE, FACT_FILE, SUMMARY_FILE]);

/** The clock of a machine may be set by so much while it starts. */
const BOOT_TOLERANCE_MS = 10_000;

/** A run whose folder is found. */
interface FoundFolder {
  readonly id: string;
  readonly bytes: number;
}

/**
 * The runs that the shell keeps in a folder of a project (D68), each in a folder of its own, so that shells do not wait for
 * each other. `run.json` says what was run; each line of `facts.jsonl` has the facts of one commit; `record.json` says how
 * it ended; the other files have the bytes that its tools have returned (D24). What cannot be read is left out: it is what a
 * crash has left.
 */
export class RunFolders {
  readonly path: string;
  readonly #processes: ProcessTable;

  /** @param path such as `/work/project/.wavetrain`; it need not exist */
  constructor(path: string, processes: ProcessTable) {
    this.path = path;
    this.#processes = processes;
  }

  get pid(): number {
    return this.#processes.pid;
  }

  /** The folder of the runs. */
  get runs(): string {
    return join(this.path, 'runs');
  }

  folder(id: string): string {
    return join(this.runs, id);
  }

  /** Whether a run can write here what only this user may read: a folder that can be read or changed by others is none. */
  async isPrivate(): Promise<boolean> {
    let path = this.runs;
    if (existsSync(path) && !(await isInOwnFolders(path, path))) return false;
    while (!existsSync(path)) path = dirname(path);
    try {
      accessSync(path, constants.W_OK);
      return statSync(path).isDirectory();
    } catch {
      return false;
    }
  }

  /** The ids of the runs, the newest first: they begin with the time. */
  ids(): string[] {
    return listNames(this.runs).toSorted().toReversed();
  }

  /** Returns undefined when there is no such run. */
  read(id: string): ShellRun | undefined {
    return readJson(join(this.folder(id), RUN_FILE)) as ShellRun | undefined;
  }

  /** How a run has ended; undefined when it has not settled. */
  summary(id: string): RunSummary | undefined {
    return readJson(join(this.folder(id), SUMMARY_FILE)) as RunSummary | undefined;
  }

  /** Reads the facts of a run, up to the first line that a crash has torn. */
  async facts(id: string): Promise<StoredFact[]> {
    let text: string;
    try {
      text = await readFile(join(this.folder(id), FACT_FILE), 'utf8');
    } catch {
      return [];
    }
    const facts: StoredFact[] = [];
    for (const line of text.split('\n')) {
      try {
        for (const fact of JSON.parse(line) as StoredFact[]) facts.push(fact);
      } catch {
        break;
      }
    }
    return facts;
  }

  /** Whether a run has not settled, and its process is there. */
  isAtWork({ id, pid, createdAt }: ShellRun): boolean {
    // Processes in containers often have the same id.
    if (pid === this.pid || !this.#processes.isAlive(pid)) return false;
    return createdAt > this.#processes.bootedAt - BOOT_TOLERANCE_MS && this.summary(id) === undefined;
  }

  /** The runs whose files a run may use: those that it repeats, directly or indirectly, from the first one that has any. */
  sourcesOf(id: string): string[] {
    const earlier: string[] = [];
    let next = this.read(id)?.submission.rerun?.run_id;
    while (next !== undefined && !earlier.includes(next)) {
      earlier.unshift(next);
      next = this.read(next)?.submission.rerun?.run_id;
    }
    const first = earlier.findIndex((other) => this.#hasFiles(other));
    return first === -1 ? [] : earlier.slice(first);
  }

  /** Whether tools of a run have returned bytes. */
  #hasFiles(id: string): boolean {
    return listNames(this.folder(id)).some((name) => !OWN_FILES.has(name));
  }

  remove(id: string): void {
    rmSync(this.folder(id), { recursive: true, force: true });
  }

  /** Removes the oldest runs that exceed the limits, but none that is at work, or whose files a run that stays may use. */
  prune(limits: { readonly runs: number; readonly bytes: number } = HISTORY_LIMITS): void {
    const folders = this.ids().map((id) => ({ id, bytes: this.#measure(id) }));
    let bytes = 0;
    const staying: FoundFolder[] = [];
    const leaving: FoundFolder[] = [];
    for (const folder of folders) {
      bytes += folder.bytes;
      const fits = staying.length < limits.runs && bytes <= limits.bytes;
      (fits || staying.length === 0 ? staying : leaving).push(folder);
    }
    if (leaving.length === 0) return;
    const needed = new Set(staying.flatMap(({ id }) => this.sourcesOf(id)));
    for (const { id } of leaving) {
      const run = this.read(id);
      const isAtWork = run !== undefined && this.isAtWork(run);
      if (!needed.has(id) && !isAtWork) this.remove(id);
    }
  }

  #measure(id: string): number {
    const folder = this.folder(id);
    return listNames(folder).reduce((sum, name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false });
      return sum + (found?.size ?? 0);
    }, 0);
  }
}

/** Returns nothing for a folder that is not there, or is none. */
function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns undefined for a file that is not there, or that a crash has torn. */
function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
