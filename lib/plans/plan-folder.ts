import { opendir, realpath } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { errorCode } from '../common/errors.js';
import { isPathInside } from '../common/files.js';
import { nearest } from '../definition/did-you-mean.js';
import { describeReadError, readDefinitionFile } from '../pipelines/load.js';

export type PlanFileResult =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  /** The file is the plan itself. */
  | { readonly kind: 'plan' }
  | { readonly kind: 'unreadable'; readonly message: string };

/** How many missing files get a suggestion. */
const MAX_SUGGESTIONS = 50;

/** How many entries of a folder are read for a suggestion. */
const MAX_ENTRIES = 1000;

const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** The folder of a plan, the only place from which its pipelines are read (D44). */
export class PlanFolder {
  /** The absolute path, with links. */
  readonly path: string;
  /** The path with all links resolved; undefined when the folder does not exist. */
  readonly #realPath: string | undefined;
  readonly #planFile: string | undefined;
  #suggestionsLeft = MAX_SUGGESTIONS;

  private constructor(path: string, realPath: string | undefined, planFile: string | undefined) {
    this.path = path;
    this.#realPath = realPath;
    this.#planFile = planFile;
  }

  static async open(folder: string, planFile: string | undefined): Promise<PlanFolder> {
    const path = resolve(folder);
    const realPlan = planFile && (await resolveLinks(resolve(planFile)));
    return new PlanFolder(path, await resolveLinks(path), realPlan);
  }

  /** Reads the text of a file. Touches nothing outside the folder, except to resolve a link that leads there. */
  async read(name: string): Promise<PlanFileResult> {
    if (name.includes('\0')) return unreadable(name, 'a path cannot contain a NUL character');
    if (isAbsolute(name))
      return unreadable(name, `a path must be relative to the plan's folder ${this.path}`);
    const path = resolve(this.path, name);
    if (!isPathInside(path, this.path)) return this.#outside(name);
    try {
      return await this.#readReal(await realpath(path), name);
    } catch (error) {
      return toFailure(name, error);
    }
  }

  async #readReal(realPath: string, name: string): Promise<PlanFileResult> {
    if (this.#realPath === undefined || !isPathInside(realPath, this.#realPath)) return this.#outside(name);
    if (realPath === this.#planFile) return { kind: 'plan' };
    return { kind: 'text', text: await readDefinitionFile(realPath, name) };
  }

  #outside(name: string): PlanFileResult {
    return unreadable(name, `it is outside the plan's folder ${this.path}`);
  }

  /** Returns the file beside a missing one whose name is closest; undefined when none is close enough. */
  async nearest(name: string): Promise<string | undefined> {
    if (this.#realPath === undefined || this.#suggestionsLeft-- <= 0) return undefined;
    const files = new Map((await this.#listBeside(name, this.#realPath)).map((file) => [stem(file), file]));
    const meant = files.get(nearest(stem(name), files.keys()) ?? '');
    return meant === undefined ? undefined : join(dirname(name), meant);
  }

  async #listBeside(name: string, planFolder: string): Promise<string[]> {
    try {
      const folder = await realpath(resolve(planFolder, dirname(name)));
      return isPathInside(folder, planFolder) ? await this.#listFiles(folder) : [];
    } catch {
      // The missing file is reported already; without its folder there is nothing to suggest.
      return [];
    }
  }

  async #listFiles(folder: string): Promise<string[]> {
    const files: string[] = [];
    let left = MAX_ENTRIES;
    for await (const entry of await opendir(folder)) {
      if (left-- <= 0) break;
      const { name } = entry;
      const isFile = (entry.isFile() || entry.isSymbolicLink()) && EXTENSIONS.has(extname(name));
      if (isFile && join(folder, name) !== this.#planFile) files.push(name);
    }
    return files.sort();
  }
}

async function resolveLinks(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    // Reading from the path reports the error.
    return undefined;
  }
}

function toFailure(name: string, error: unknown): PlanFileResult {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
  return { kind: 'unreadable', message: describeReadError(name, error) };
}

function unreadable(name: string, reason: string): PlanFileResult {
  return { kind: 'unreadable', message: `cannot read "${name}": ${reason}` };
}

/** Removes the extension, which would make all names similar. */
function stem(name: string): string {
  return basename(name, extname(name));
}
