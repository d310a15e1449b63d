import { opendir, realpath } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode } from '../common/errors.js';
import { nearest } from '../definition/suggest.js';
import { definitionTextAt, whyUnreadable } from '../pipelines/load.js';

/** What stands at a path of the folder: a text, nothing, the plan itself, or what is not read, with the reason. */
export type Reading =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'plan' }
  | { readonly kind: 'refused'; readonly message: string };

/** The folder of a plan: its pipelines are read from there and from nowhere else (D44). */
export class PlanFolder {
  /** As it was named. */
  readonly path: string;
  /** With every link followed; undefined when there is no such folder. */
  readonly #real: string | undefined;
  readonly #planFile: string | undefined;
  readonly #neighbours: Neighbours | undefined;

  private constructor(path: string, real: string | undefined, planFile: string | undefined) {
    this.path = path;
    this.#real = real;
    this.#planFile = planFile;
    this.#neighbours = real === undefined ? undefined : new Neighbours(real, planFile);
  }

  static async open(folder: string, planFile: string | undefined): Promise<PlanFolder> {
    const path = resolve(folder);
    return new PlanFolder(path, await whereIs(path), planFile && (await whereIs(resolve(planFile))));
  }

  /** Reads the text of a file. Nothing outside the folder is touched, but to follow a link that leads there. */
  async read(name: string): Promise<Reading> {
    if (name.includes('\0')) return refused(name, 'a path cannot hold a NUL character');
    if (isAbsolute(name)) return refused(name, `a path is relative to the plan's folder ${this.path}`);
    const path = resolve(this.path, name);
    if (!isInside(path, this.path)) return this.#outside(name);
    try {
      return await this.#readReal(await realpath(path), name);
    } catch (error) {
      return unreachable(name, error);
    }
  }

  /** The file that was probably meant by a name under which nothing stands. */
  async nearest(name: string): Promise<string | undefined> {
    return this.#neighbours?.nearest(name);
  }

  async #readReal(real: string, name: string): Promise<Reading> {
    if (this.#real === undefined || !isInside(real, this.#real)) return this.#outside(name);
    if (real === this.#planFile) return { kind: 'plan' };
    return { kind: 'text', text: await definitionTextAt(real, name) };
  }

  #outside(name: string): Reading {
    return refused(name, `it is outside the plan's folder ${this.path}`);
  }
}

async function whereIs(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    // Whoever reads from it is told.
    return undefined;
  }
}

function unreachable(name: string, error: unknown): Reading {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
  return { kind: 'refused', message: whyUnreadable(name, error) };
}

function refused(name: string, why: string): Reading {
  return { kind: 'refused', message: `cannot read "${name}": ${why}` };
}

/** For how many files that are not there a name is looked for. */
const MOST_SUGGESTIONS = 50;

/** How much of a folder is read for a name. */
const MOST_ENTRIES = 1000;

const ENDINGS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** The files that stand in a plan's folder, for a hint when one is named that does not. */
class Neighbours {
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

/** Does a path lead into a folder, or to the folder itself? Both are absolute. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
