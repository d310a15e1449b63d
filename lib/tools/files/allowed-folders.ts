import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { errorCode, ToolError } from '../../common/errors.js';
import { describeErrno, isPathInside } from '../../common/files.js';
import { readError } from './regular-file.js';

/** Names the allowed folders in errors. */
export type DescribeFolders = (folders: readonly string[]) => string;

/** The folders that tools may read, and what is in them (D51). */
export class AllowedFolders {
  readonly #folders: readonly string[];
  readonly #describe: DescribeFolders;

  constructor(
    roots: readonly string[],
    describe: DescribeFolders = (folders) => [...new Set(folders)].join(', '),
  ) {
    this.#folders = roots.map((root) => resolve(root));
    this.#describe = describe;
  }

  /** Finds the real path of a file. Rejects with a ToolError, not retryable. */
  async find(path: string): Promise<string> {
    for await (const real of this.#search(path)) return real;
    throw this.#missingError(path, 'there is no such file');
  }

  /**
   * Finds the real path of a regular file, which a library will open. Rejects with a ToolError, not retryable.
   *
   * @param mayCreate accepts a file that is not there yet, in a folder that is
   */
  async locate(path: string, mayCreate: boolean): Promise<string> {
    for await (const real of this.#search(path)) {
      // A pipe would be waited for.
      if (!(await stat(real)).isFile()) throw readError(path, 'it is not a regular file');
      return real;
    }
    const place = mayCreate ? await this.#findPlace(path) : undefined;
    if (place !== undefined) return place;
    throw this.#missingError(path, 'there is no such file');
  }

  async #findPlace(path: string): Promise<string | undefined> {
    const allowed = await this.#resolveExisting();
    for (const candidate of this.#listCandidates(path, allowed)) {
      const real = await resolveNewPath(candidate, path);
      if (real !== undefined && allowed.some((folder) => isPathInside(real, folder))) return real;
    }
    return undefined;
  }

  /** Finds the real path of a folder. Rejects with a ToolError, not retryable. */
  async findFolder(path: string): Promise<string> {
    for await (const real of this.#search(path)) if ((await stat(real)).isDirectory()) return real;
    throw this.#missingError(path, 'there is no such folder');
  }

  /** Resolves with true when a path leads to something. */
  async has(path: string): Promise<boolean> {
    if (this.#folders.length === 0) return false;
    for await (const _ of this.#search(path)) return true;
    return false;
  }

  /** Yields what a path leads to, in each root in turn. */
  async *#search(path: string): AsyncGenerator<string, undefined> {
    this.#assertValidPath(path);
    const allowed = await this.#resolveExisting();
    for (const candidate of this.#listCandidates(path, allowed)) {
      const real = await resolveRealPath(candidate, path);
      if (real === undefined) continue;
      if (!allowed.some((folder) => isPathInside(real, folder))) throw this.#outsideError(path);
      yield real;
    }
    return undefined;
  }

  #assertValidPath(path: string): void {
    if (path === '') throw ToolError.nonRetryable('the path is empty: name a file');
    if (path.includes('\0'))
      throw readError(path.replaceAll('\0', '\\0'), 'a path cannot hold a NUL character');
    if (this.#folders.length === 0)
      throw readError(path, 'tools may read no files here: name folders in SERVICE_FILE_ROOTS to allow it');
    if (path.split(/[\\/]/).includes('..')) throw this.#outsideError(path, 'a path may not climb with ".."');
  }

  async #resolveExisting(): Promise<string[]> {
    const found: string[] = [];
    for (const folder of this.#folders) {
      const real = await resolveRealPath(folder, this.#describe([folder]));
      if (real !== undefined) found.push(real);
    }
    return found;
  }

  /** Lists the paths to try, in order. Never touches a path outside the folders, not even to see whether it exists. */
  #listCandidates(path: string, allowed: readonly string[]): string[] {
    if (!isAbsolute(path)) return this.#folders.map((folder) => join(folder, path));
    if ([...this.#folders, ...allowed].some((folder) => isPathInside(path, folder))) return [path];
    throw this.#outsideError(path);
  }

  #missingError(path: string, reason: string): ToolError {
    const folders = this.#describe(this.#folders);
    const search = isAbsolute(path) ? `Files in ${folders} may be read` : `Looked in ${folders}`;
    return readError(path, `${reason}. ${search}`);
  }

  #outsideError(path: string, reason = 'it is outside the allowed folders'): ToolError {
    const advice = 'move the file there, or add its folder to SERVICE_FILE_ROOTS';
    return readError(path, `${reason}. Files in ${this.#describe(this.#folders)} may be read: ${advice}`);
  }
}

/** Follows all symbolic links; returns undefined when the path does not exist. */
async function resolveRealPath(candidate: string, displayPath: string): Promise<string | undefined> {
  try {
    return await realpath(candidate);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw readError(displayPath, describeErrno(error));
  }
}

/** The path of a file that is not there yet, in a folder that is; undefined without that folder, and where a link stands. */
async function resolveNewPath(candidate: string, displayPath: string): Promise<string | undefined> {
  const folder = await resolveRealPath(dirname(candidate), displayPath);
  if (folder === undefined) return undefined;
  const path = join(folder, basename(candidate));
  // A link that leads nowhere would be followed when the file is created.
  return (await lstat(path).catch(() => undefined)) === undefined ? path : undefined;
}
