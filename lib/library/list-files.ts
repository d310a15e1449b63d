import { mapSome } from '../common/scheduling/concurrency-limiter.js';
import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { DEFINITION_EXTENSIONS, describeErrno, isPathInside, isTestFile } from '../common/files.js';
import { LIBRARY_LIMITS } from './limits.js';

/** Tenant of the files that are in no folder of a tenant. */
export const ROOT_TENANT = 'default';

/** The folder with one folder for each other tenant. */
export const TENANTS_FOLDER = 'tenants';

/** A file that may hold a definition. */
export interface ListedFile {
  /** Relative to the folder, with `/`. */
  readonly file: string;
  /** All symbolic links followed. */
  readonly realPath: string;
  readonly tenantId: string;
  readonly bytes: number;
  /** Milliseconds since 1970, UTC. */
  readonly changedAt: number;
  /** Changes with the content of the file. */
  readonly signature: string;
  readonly isLink: boolean;
}

export interface Listing {
  /** By `file`, in the order of their paths. */
  readonly files: ReadonlyMap<string, ListedFile>;
  /** The files that are left out although they look like definitions, with the reasons. */
  readonly skipped: ReadonlyMap<string, string>;
}

const EXTENSIONS: ReadonlySet<string> = new Set(DEFINITION_EXTENSIONS);

/**
 * Lists the definitions of a folder and of those below it (D69). Hidden files and folders, files of tests (D91), links to
 * folders, and links to what is outside of the folder are left out. Rejects with the error of the system when the folder itself cannot be read.
 *
 * @param root absolute, all symbolic links followed
 * @param isTenant whether a folder can have the name of a tenant
 */
export async function listDefinitionFiles(
  root: string,
  isTenant: (name: string) => boolean,
): Promise<Listing> {
  const found: Candidate[] = [];
  const skipped = new Map<string, string>();
  await walk(root, [], { root, isTenant, found, skipped, left: LIBRARY_LIMITS.entries });
  found.sort((a, b) => compareText(a.file, b.file));
  for (const { file } of found.splice(LIBRARY_LIMITS.files)) {
    skipped.set(file, `there are more than ${LIBRARY_LIMITS.files.toLocaleString('en')} files`);
  }
  const files = new Map<string, ListedFile>();
  await mapSome(found, LIBRARY_LIMITS.concurrency, async (candidate) => {
    const listed = await inspectFile(candidate, root, skipped);
    if (listed !== undefined) files.set(candidate.file, listed);
  });
  return { files: new Map([...files].sort(([a], [b]) => compareText(a, b))), skipped };
}

/** How many files a server finds in a folder, and how many it leaves out. Rejects as the system does. */
export async function countDefinitionFiles(
  folder: string,
): Promise<{ readonly files: number; readonly skipped: number }> {
  const { files, skipped } = await listDefinitionFiles(await realpath(folder), () => true);
  return { files: files.size, skipped: skipped.size };
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

interface Candidate {
  readonly file: string;
  readonly tenantId: string;
  readonly isLink: boolean;
}

interface Walk {
  readonly root: string;
  readonly isTenant: (name: string) => boolean;
  readonly found: Candidate[];
  readonly skipped: Map<string, string>;
  left: number;
}

/** @param names of the folders that lead from the root to this one */
async function walk(root: string, names: readonly string[], into: Walk): Promise<void> {
  for (const entry of await readFolder(root, names, into)) {
    if (entry.name.startsWith('.')) continue;
    const path = [...names, entry.name];
    const file = path.join('/');
    if (entry.isDirectory()) {
      if (path.length > LIBRARY_LIMITS.depth)
        into.skipped.set(file, `it is deeper than ${LIBRARY_LIMITS.depth} folders`);
      else await walk(root, path, into);
      continue;
    }
    if (isTestFile(entry.name)) continue;
    if (!EXTENSIONS.has(extname(entry.name)) || !(entry.isFile() || entry.isSymbolicLink())) continue;
    const tenantId = findTenant(names, into.isTenant);
    if (tenantId === undefined)
      into.skipped.set(file, `it is in no folder of a tenant: ${TENANTS_FOLDER}/TENANT`);
    else into.found.push({ file, tenantId, isLink: entry.isSymbolicLink() });
  }
}

async function readFolder(root: string, names: readonly string[], into: Walk): Promise<Dirent[]> {
  try {
    const entries = await readdir(join(root, ...names), { withFileTypes: true });
    into.left -= entries.length;
    if (into.left >= 0) return entries;
    const limit = LIBRARY_LIMITS.entries.toLocaleString('en');
    into.skipped.set(names.join('/') || '.', `there are more than ${limit} files and folders`);
    return [];
  } catch (error) {
    if (names.length === 0) throw error;
    into.skipped.set(names.join('/'), describeErrno(error));
    return [];
  }
}

/** Undefined for a file beside the folders of the tenants, and in one whose name is none. */
function findTenant([first, tenant]: readonly string[], isTenant: Walk['isTenant']): string | undefined {
  // The same folder, where the file system does not distinguish capital letters.
  if (first?.toLowerCase() !== TENANTS_FOLDER) return ROOT_TENANT;
  return tenant !== undefined && first === TENANTS_FOLDER && isTenant(tenant) ? tenant : undefined;
}

/** Looks at one file. Resolves with undefined when it is none that may be read: then `skipped` receives the reason. */
export async function inspectFile(
  { file, tenantId, isLink }: Candidate,
  root: string,
  skipped?: Map<string, string>,
): Promise<ListedFile | undefined> {
  const leaveOut = (reason: string): undefined => void skipped?.set(file, reason);
  try {
    const realPath = await realpath(join(root, file));
    if (!isPathInside(realPath, root)) return leaveOut('it is a link to a file outside of the folder');
    const stats = await stat(realPath, { bigint: true });
    const { size, mtimeNs, ctimeNs, mtimeMs, ino } = stats;
    if (!stats.isFile()) return leaveOut('it is not a regular file');
    return {
      file,
      realPath,
      tenantId,
      bytes: Number(size),
      changedAt: Number(mtimeMs),
      signature: [realPath, ino, size, mtimeNs, ctimeNs].join(' '),
      isLink,
    };
  } catch (error) {
    // The file was removed meanwhile, or is a link that leads nowhere.
    return leaveOut(describeErrno(error));
  }
}
