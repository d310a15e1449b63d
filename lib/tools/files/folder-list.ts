import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { describeErrno } from '../../common/files.js';
import type { ListedEntry } from './access.js';
import { readError } from './regular-file.js';
import { TRANSFER_LIMITS } from './transfer-limits.js';
import { isUnfinished } from './written-file.js';

/** A file or folder in a folder, before its size is known. */
interface FoundName {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Deeper folders are left out: a path of more parts is too long for most systems. */
const MAX_DEPTH = 100;

/**
 * Lists a folder in the order of names, and what is below it. Links, which may lead elsewhere, are left out, as are devices, pipes and
 * sockets, and files that are being written. Nothing is read before it is asked for, and of one folder no more than the most entries that
 * a list looks at.
 *
 * @param real the path with all symbolic links followed
 */
export async function* listFolder(
  real: string,
  displayPath: string,
  isDeep: boolean,
): AsyncGenerator<ListedEntry, undefined> {
  const open = [{ path: '', names: mergeRuns(await readNames(real, displayPath)) }];
  for (let folder = open.at(-1); folder !== undefined; folder = open.at(-1)) {
    const next = folder.names.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const { name, isFolder } = next.value;
    const path = folder.path === '' ? name : `${folder.path}/${name}`;
    yield { path, isFolder, measure: () => measure(join(real, path)) };
    if (!isDeep || !isFolder || open.length >= MAX_DEPTH) continue;
    // A folder that cannot be read, or is a link by now, is listed without what is in it.
    const names = await readNames(join(real, path), displayPath).catch(() => []);
    open.push({ path, names: mergeRuns(names) });
  }
  return undefined;
}

/** So many names are sorted at once: more would hold the event loop. */
const SORTED_AT_ONCE = 2048;

/** Reads the names in a folder, in runs that are sorted. */
async function readNames(path: string, displayPath: string): Promise<FoundName[][]> {
  const runs: FoundName[][] = [];
  try {
    if (!(await lstat(path)).isDirectory()) return runs;
    let names: FoundName[] = [];
    for await (const entry of await opendir(path, { bufferSize: 256 })) {
      if (runs.length * SORTED_AT_ONCE > TRANSFER_LIMITS.scannedEntries) break;
      if ((!entry.isFile() && !entry.isDirectory()) || isUnfinished(entry.name)) continue;
      names.push({ name: entry.name, isFolder: entry.isDirectory() });
      if (names.length < SORTED_AT_ONCE) continue;
      runs.push(names.sort(byName));
      names = [];
    }
    if (names.length > 0) runs.push(names.sort(byName));
  } catch (error) {
    throw readError(displayPath, describeErrno(error));
  }
  return runs;
}

function byName(a: FoundName, b: FoundName): number {
  return a.name < b.name ? -1 : 1;
}

/** Merges runs that are sorted, name by name. */
function* mergeRuns(runs: readonly (readonly FoundName[])[]): Generator<FoundName, undefined> {
  const positions = runs.map(() => 0);
  for (;;) {
    let least = -1;
    let found: FoundName | undefined;
    for (const [run, names] of runs.entries()) {
      const candidate = names[positions[run] ?? 0];
      if (candidate === undefined || (found !== undefined && byName(found, candidate) < 0)) continue;
      [least, found] = [run, candidate];
    }
    if (found === undefined) return undefined;
    positions[least] = (positions[least] ?? 0) + 1;
    yield found;
  }
}

async function measure(path: string): ReturnType<ListedEntry['measure']> {
  const found = await lstat(path).catch(() => undefined);
  return found && { size: found.isDirectory() ? 0 : found.size, modifiedMs: Math.floor(found.mtimeMs) };
}
