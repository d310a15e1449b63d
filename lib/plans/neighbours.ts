import { opendir, realpath } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { nearest } from '../definition/suggest.js';
import { isInside } from './inside.js';

/** For how many files that are not there a name is looked for. */
const MOST_SUGGESTIONS = 50;

/** How much of a folder is read for a name. */
const MOST_ENTRIES = 1000;

const ENDINGS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** The files that stand in a plan's folder, for a hint when one is named that does not. */
export class Neighbours {
  readonly #folder: string;
  readonly #planFile: string | undefined;
  #left = MOST_SUGGESTIONS;

  /** Both with every link followed. */
  constructor(folder: string, planFile: string | undefined) {
    this.#folder = folder;
    this.#planFile = planFile;
  }

  /** The file that was probably meant: beside the one that is named, and called nearly like it. */
  async nearest(name: string): Promise<string | undefined> {
    if (this.#left-- <= 0) return undefined;
    const files = new Map((await this.#filesBeside(name)).map((file) => [stem(file), file]));
    const near = files.get(nearest(stem(name), files.keys()) ?? '');
    return near === undefined ? undefined : join(dirname(name), near);
  }

  async #filesBeside(name: string): Promise<string[]> {
    try {
      const folder = await realpath(resolve(this.#folder, dirname(name)));
      return isInside(folder, this.#folder) ? await this.#filesIn(folder) : [];
    } catch {
      // That the file is missing is told already; without its folder there is no name to suggest.
      return [];
    }
  }

  async #filesIn(folder: string): Promise<string[]> {
    const files: string[] = [];
    let left = MOST_ENTRIES;
    for await (const entry of await opendir(folder)) {
      if (left-- <= 0) break;
      const isFile = entry.isFile() || entry.isSymbolicLink();
      if (!isFile || !ENDINGS.has(extname(entry.name)) || join(folder, entry.name) === this.#planFile)
        continue;
      files.push(entry.name);
    }
    return files.sort();
  }
}

/** Without its ending: that two files are YAML makes no names alike. */
function stem(name: string): string {
  return basename(name, extname(name));
}
