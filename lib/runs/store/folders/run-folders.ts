import { BY_COMMAND_LINE } from '../../../common/wire/started-by.js';
import { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { HISTORY_LIMITS } from '../../../common/limits.js';
import { isInOwnFolders } from '../../../execution/invocation/files/own-folder.js';
import type { RunSummary } from '../../record.js';
import type { StoredFact, StoredRun } from '../run-store.js';

export interface ProcessTable {
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

export const RUN_FILE = 'run.json';
export const FACT_FILE = 'facts.jsonl';
export const SUMMARY_FILE = 'record.json';
const OWN_FILES: ReadonlySet<string> = new Set([RUN_FILE, FACT_FILE, SUMMARY_FILE]);

/** The clock of a machine may be set by so much while it starts. */
const BOOT_TOLERANCE_MS = 10_000;

interface FoundFolder {
  readonly id: string;
  readonly bytes: number;
  /** Tools of the run have returned bytes. */
  readonly hasFiles: boolean;
}

/**
 * The runs that the shell keeps in a folder of a project (D68), each in a folder of its own, so that shells do not wait for
 * each other. `run.json` says what was run; each line of `facts.jsonl` has the facts of one commit; `record.json` says how
 * it ended; the other files have the bytes that its tools have returned (D24). Files and lines that cannot be read are
 * left out: a crash has torn them.
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

  get runs(): string {
    return join(this.path, 'runs');
  }

  folder(id: string): string {
    return join(this.runs, id);
  }

  /** Resolves to true when only this user can read and change the folder, and this process can write to it. */
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

  /** Returns true when there is such a run, of which a crash may have torn what it was given. */
  has(id: string): boolean {
    return existsSync(join(this.folder(id), RUN_FILE));
  }

  read(id: string): ShellRun | undefined {
    return readJson(join(this.folder(id), RUN_FILE)) as ShellRun | undefined;
  }

  /** How a run has ended; undefined when it has not settled. Earlier versions have written less. */
  summary(id: string): RunSummary | undefined {
    const summary = readJson(join(this.folder(id), SUMMARY_FILE)) as RunSummary | undefined;
    return (
      summary &&
      Object.assign(summary, {
        trigger: summary.trigger ?? null,
        started_by: summary.started_by ?? BY_COMMAND_LINE,
        labels: summary.labels ?? {},
      })
    );
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

  /** Returns true when a run has not settled, and its process is there. */
  isAtWork({ id, pid, createdAt }: ShellRun): boolean {
    // Processes in containers often have the same id.
    if (pid === this.pid || !this.#processes.isAlive(pid)) return false;
    return createdAt > this.#processes.bootedAt - BOOT_TOLERANCE_MS && this.summary(id) === undefined;
  }

  /** As `isAtWork`, without reading what a run that has settled was given. */
  isStillAtWork(id: string): boolean {
    const run = this.summary(id) === undefined ? this.read(id) : undefined;
    return run !== undefined && this.isAtWork(run);
  }

  /**
   * By id of the runs, those whose files each may use: those that it repeats, directly or indirectly, from the first one
   * that has any. When no run has files, nothing is read, otherwise each run at most once.
   */
  sourcesOf(
    ids: readonly string[],
    folders: readonly FoundFolder[] = this.#findFolders(),
  ): ReadonlyMap<string, readonly string[]> {
    const known = new Set(folders.map(({ id }) => id));
    const withFiles = new Set(folders.flatMap(({ id, hasFiles }) => (hasFiles ? [id] : [])));
    const sources = new Map<string, readonly string[]>();
    const repeated = new Map<string, string | undefined>();
    const findRepeated = (id: string): string | undefined => {
      if (!repeated.has(id)) repeated.set(id, known.has(id) ? this.#findRepeated(id) : undefined);
      return repeated.get(id);
    };
    for (const id of withFiles.size === 0 ? [] : ids) {
      const earlier = new Set<string>();
      for (let next = findRepeated(id); next !== undefined && !earlier.has(next); next = findRepeated(next)) {
        earlier.add(next);
      }
      const oldestFirst = [...earlier].toReversed();
      const first = oldestFirst.findIndex((other) => withFiles.has(other));
      sources.set(id, first === -1 ? [] : oldestFirst.slice(first));
    }
    return sources;
  }

  /** The run that a run repeats. The summary of one that has settled is small, and what it was given may be large. */
  #findRepeated(id: string): string | undefined {
    const repeated = this.summary(id)?.rerun_of;
    return repeated === undefined ? this.read(id)?.submission.rerun?.run_id : (repeated ?? undefined);
  }

  remove(id: string): void {
    rmSync(this.folder(id), { recursive: true, force: true });
  }

  /** Removes the oldest runs that exceed the limits, but none that is at work, or whose files a run that stays may use. */
  prune(limits: { readonly runs: number; readonly bytes: number } = HISTORY_LIMITS): void {
    const folders = this.#findFolders();
    let bytes = 0;
    const staying: FoundFolder[] = [];
    const leaving: FoundFolder[] = [];
    for (const folder of folders) {
      bytes += folder.bytes;
      const fits = staying.length < limits.runs && bytes <= limits.bytes;
      (fits || staying.length === 0 ? staying : leaving).push(folder);
    }
    if (leaving.length === 0) return;
    const atWork = leaving.filter(({ id }) => this.isStillAtWork(id));
    const sources = this.sourcesOf(
      [...staying, ...atWork].map(({ id }) => id),
      folders,
    );
    const needed = new Set([...atWork.map(({ id }) => id), ...[...sources.values()].flat()]);
    for (const { id } of leaving) if (!needed.has(id)) this.remove(id);
  }

  /** Looks at each folder once, since every run begins with this. The newest is the first. */
  #findFolders(): FoundFolder[] {
    return this.ids().map((id) => {
      const folder = this.folder(id);
      const names = listNames(folder);
      let bytes = 0;
      for (const name of names) {
        // Put together by hand: for the files of 100 runs, `join` takes longer than `statSync`.
        bytes += statSync(`${folder}${sep}${name}`, { throwIfNoEntry: false })?.size ?? 0;
      }
      return { id, bytes, hasFiles: names.some((name) => !OWN_FILES.has(name)) };
    });
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
