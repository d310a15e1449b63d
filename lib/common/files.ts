import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode, errorMessage } from './errors.js';

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'it would be larger than a file may be'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['ELOOP', 'its symbolic links lead in a circle'],
]);

/** Explains why a file operation failed: `there is no such file`. Errors that are not the system's keep their message. */
export function describeErrno(error: unknown): string {
  const code = errorCode(error) ?? '';
  return (
    REASONS.get(code) ??
    (/^(E[A-Z0-9]+|UNKNOWN|Unknown system error .*)$/.test(code) ? code : errorMessage(error))
  );
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8, with or without a byte order mark. @throws Error with the reason, for a message `cannot read "file": …` */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch (cause) {
    const what = isUtf16(bytes) ? 'it looks like UTF-16' : 'it is not UTF-8 text';
    throw new Error(`${what}; save it as UTF-8`, { cause });
  }
}

function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Returns true if an absolute path leads into an absolute folder, or to the folder itself. */
export function isPathInside(path: string, folder: string): boolean {
  const fromFolder = relative(folder, path);
  return fromFolder !== '..' && !fromFolder.startsWith(`..${sep}`) && !isAbsolute(fromFolder);
}

/**
 * Creates a folder and those above it that are missing. The recursive `mkdir` of Node.js never ends where an existing folder
 * says that there is no such file, as `/proc` does. Rejects as the system does: with the folder that could not be created.
 *
 * @param mode permissions of new folders. Default 0o777, less what the process masks
 */
export async function makeFolders(path: string, mode?: number): Promise<void> {
  const missing: string[] = [];
  for (let folder = resolve(path); !(await isFolder(folder)); folder = dirname(folder)) {
    missing.unshift(folder);
    if (dirname(folder) === folder) break;
  }
  for (const folder of missing) {
    try {
      await mkdir(folder, mode);
    } catch (error) {
      // Another process, or another task, may have created it meanwhile.
      if (errorCode(error) !== 'EEXIST' || !(await isFolder(folder))) throw error;
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/** Beside this file in a checkout, and in the package; resolving its name would take longer than a task. */
const PACKAGE = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../..' : '..', import.meta.url));

/** Finds the folder of this package. @throws Error when a host has bundled the code and has not installed the package */
export function packageFolder(): string {
  if (existsSync(join(PACKAGE, 'bin', 'start.cjs'))) return PACKAGE;
  return dirname(createRequire(import.meta.url).resolve('wavetrain/package.json'));
}

/** Finds a file that the build writes. It may be missing: a checkout need not be built. @throws as `packageFolder` */
export function distFile(name: string): string {
  return join(packageFolder(), 'dist', name);
}

/** The endings of a definition, in the order in which they are tried. */
export const DEFINITION_EXTENSIONS = ['.yaml', '.yml', '.json'] as const;

/** The endings of a file of tests, after the name of the definition beside it (D91), in the order in which they are tried. */
export const TEST_ENDINGS = ['.test.yaml', '.test.yml'] as const;

/** Returns true if a file has tests of the definition beside it, by its name: it is no definition itself. */
export function isTestFile(file: string): boolean {
  return TEST_ENDINGS.some((ending) => file.endsWith(ending));
}
