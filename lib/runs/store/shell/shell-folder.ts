import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isInOwnFolders } from '../../../execution/invocation/files/own-folder.js';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** In the folder of each run that an earlier version has kept. */
export const OLD_RUN_FILE = 'run.json';

/** `runs.db`, and `runs-2.db`, `runs-3.db` … of shells that were at work at the same time. */
const STORE_FILE = /^runs(?:-([2-9]|[1-9]\d+))?\.db$/;

/**
 * The folder of a project with the runs of the shell (D68), in files like that of a server. No two processes write one file,
 * because SQLite before 3.51.3 may lose commits then (https://sqlite.org/wal.html#the_wal_reset_bug): a shell that finds the
 * first one taken writes another, until the next owner of the first takes it over.
 */
export class ShellFolder {
  readonly path: string;

  /** @param path such as `/home/ada/project/.wavetrain`; it need not exist */
  constructor(path: string) {
    this.path = path;
  }

  /** The bytes that tools have returned, in a folder for each run: outputs name them by their path, so they never move. */
  get runs(): string {
    return join(this.path, 'runs');
  }

  /** A file for each run that is to be deleted, and is in the file of a shell at work. */
  get #removed(): string {
    return join(this.path, 'removed');
  }

  /** The file with this number, from 1. */
  file(number: number): string {
    return join(this.path, number === 1 ? 'runs.db' : `runs-${number}.db`);
  }

  numberOf(file: string): number {
    return Number(/-(\d+)\.db$/.exec(file)?.[1] ?? 1);
  }

  /** The files that there are, the first one last: runs move there, and whoever reads in this order misses none. */
  files(): string[] {
    const numbers = listNames(this.path).flatMap((name) => {
      const found = STORE_FILE.exec(name);
      return found === null ? [] : [Number(found[1] ?? 1)];
    });
    return numbers.sort((a, b) => b - a).map((number) => this.file(number));
  }

  make(): void {
    if (mkdirSync(this.path, { recursive: true, mode: PRIVATE_FOLDER }) === undefined) return;
    // Nobody wants the history of their runs in the history of their code.
    writeFileSync(join(this.path, '.gitignore'), '*\n', { mode: PRIVATE_FILE });
  }

  /** Resolves to true when only this user can read and change the files of runs, and this process can write them. */
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

  /** The runs of which there are files. */
  runsWithFiles(): ReadonlySet<string> {
    return new Set(listNames(this.runs));
  }

  /** True when an earlier version has kept runs, each in a folder of its own. */
  get hasOldRuns(): boolean {
    return listNames(this.runs).some((id) => existsSync(join(this.runs, id, OLD_RUN_FILE)));
  }

  /** Bytes in the files of a run. */
  measureFiles(runId: string): number {
    const folder = join(this.runs, runId);
    return listNames(folder).reduce(
      (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  }

  /** The runs that are to be deleted. */
  removals(): ReadonlySet<string> {
    return new Set(listNames(this.#removed));
  }

  /** Takes a run out of all lists. The next shell that writes its file deletes it. */
  markRemoved(runId: string): void {
    mkdirSync(this.#removed, { recursive: true, mode: PRIVATE_FOLDER });
    writeFileSync(join(this.#removed, runId), '', { mode: PRIVATE_FILE });
  }

  /** Call when a run was deleted. */
  endRemoval(runId: string): void {
    rmSync(join(this.#removed, runId), { force: true });
  }
}

/** Returns nothing for a folder that is not there, or is none. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
