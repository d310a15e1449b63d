import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Clock, delay } from '../../common/clock.js';
import { isPathInside, isTestFile } from '../../common/files.js';

/** How often files are looked at: no other means works on every file system. */
const LOOK_DELAY_MS = 300;

/** Files beyond which a look ends: those behind are not watched. */
const MAX_FILES = 20_000;

/** The files below the paths that the user has named, as they were when it was opened. */
export class FileWatch {
  readonly #paths: readonly string[];
  readonly #cwd: string;
  #known: Signatures;

  private constructor(paths: readonly string[], cwd: string, known: Signatures) {
    this.#paths = paths;
    this.#cwd = cwd;
    this.#known = known;
  }

  static async open(paths: readonly string[], cwd: string): Promise<FileWatch> {
    return new FileWatch(paths, cwd, await lookAt(paths, cwd));
  }

  /**
   * Yields the absolute paths of files that have changed, appeared or gone, as often as some have, until the signal aborts. A
   * change counts when the next look finds nothing further: an editor may still be writing.
   */
  async *changes(clock: Clock, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    const changed = new Set<string>();
    while (!signal.aborted) {
      await delay(LOOK_DELAY_MS, { clock, signal }).catch(() => undefined);
      if (signal.aborted) return;
      const now = await lookAt(this.#paths, this.#cwd);
      const found = listChanges(this.#known, now);
      this.#known = now;
      for (const file of found) changed.add(file);
      if (found.length > 0 || changed.size === 0) continue;
      yield [...changed];
      changed.clear();
    }
  }
}

/**
 * The tests that changed files touch: a file of tests itself; any other file may be a definition, part of a plan or run by a
 * task, and touches the tests of its folder and of those above it.
 */
export function touchedTests(tests: readonly string[], changed: readonly string[], cwd: string): string[] {
  const others = changed.filter((file) => !isTestFile(file));
  return tests.filter((test) => {
    const path = resolve(cwd, test);
    return changed.includes(path) || others.some((file) => isPathInside(file, dirname(path)));
  });
}

type Signatures = ReadonlyMap<string, string>;

function listChanges(before: Signatures, after: Signatures): string[] {
  const files = new Set([...before.keys(), ...after.keys()]);
  return [...files].filter((file) => before.get(file) !== after.get(file));
}

async function lookAt(paths: readonly string[], cwd: string): Promise<Signatures> {
  const found = new Map<string, string>();
  for (const path of paths) {
    const absolute = resolve(cwd, path);
    const isFolder = await stat(absolute).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    // The definition of a file stands beside it.
    await lookInto(isFolder ? absolute : dirname(absolute), found);
  }
  return found;
}

async function lookInto(folder: string, found: Map<string, string>): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (found.size >= MAX_FILES) return;
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await lookInto(path, found);
    else if (entry.isFile()) {
      const stats = await stat(path).catch(() => undefined);
      if (stats !== undefined) found.set(path, `${stats.mtimeMs} ${stats.size} ${stats.ino}`);
    }
  }
}
