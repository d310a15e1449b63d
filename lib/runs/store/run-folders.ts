import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../common/json.js';
import { HISTORY_LIMITS } from '../../common/limits.js';
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

/** A run of the shell, as `run.json` has it. */
export interface ShellRun extends StoredRun {
  /** The process that runs it, or has run it. */
  readonly pid: number;
  /** The flags of the command, as far as a rerun needs them. */
  readonly command: JsonObject;
}

/** The files of a run. */
export const RUN_FILE = 'run.json';
export const FACT_FILE = 'facts.jsonl';
export const SUMMARY_FILE = 'record.json';

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
 * it ended. What cannot be read is left out: it is what a crash has left.
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

  /** The ids of the runs, the newest first: they begin with the time. */
  ids(): string[] {
    try {
      return readdirSync(this.runs).toSorted().toReversed();
    } catch {
      return [];
    }
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

  /** Whether the process of a run that has not settled is there. */
  isAtWork({ pid, createdAt }: ShellRun): boolean {
    // Processes in containers often have the same id.
    if (pid === this.pid || !this.#processes.isAlive(pid)) return false;
    return createdAt > this.#processes.bootedAt - BOOT_TOLERANCE_MS;
  }

  /** The run and those that it repeats, directly or indirectly, as far as they are kept: the oldest first. */
  chain(id: string): ShellRun[] {
    const chain: ShellRun[] = [];
    const seen = new Set<string>();
    for (let next: string | undefined = id; next !== undefined && !seen.has(next); ) {
      seen.add(next);
      const run: ShellRun | undefined = this.read(next);
      if (run !== undefined) chain.unshift(run);
      next = run?.submission.rerun?.run_id;
    }
    return chain;
  }

  remove(id: string): void {
    rmSync(this.folder(id), { recursive: true, force: true });
  }

  /** Removes the oldest runs that exceed the limits, but none that is at work. */
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
    for (const { id } of leaving) if (!this.#mayBeAtWork(id)) this.remove(id);
  }

  #mayBeAtWork(id: string): boolean {
    if (this.summary(id) !== undefined) return false;
    const run = this.read(id);
    return run !== undefined && this.isAtWork(run);
  }

  #measure(id: string): number {
    return [RUN_FILE, FACT_FILE].reduce((sum, name) => {
      const found = statSync(join(this.folder(id), name), { throwIfNoEntry: false });
      return sum + (found?.size ?? 0);
    }, 0);
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
