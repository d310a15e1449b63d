import type { Problem } from '../definition/problems/problem.js';
import type { DefinitionKind } from '../definition/schema/root.js';
import { compareText, type ListedFile } from './list-files.js';
import { fileProblem, type GoodVersion, type ReadFile } from './read-definition.js';

/** A file of the folder, and what the server runs of it. */
export interface FolderEntry {
  readonly listed: ListedFile;
  readonly id: string;
  readonly kind: DefinitionKind;
  /** Of the file as it is now; its definition is in use unless there are errors among them. */
  readonly problems: readonly Problem[];
  /** The last version without errors; undefined when this process has seen none. */
  readonly good: GoodVersion | undefined;
  readonly isValid: boolean;
  /** Changes with the entry; that of another folder, or of another process, is never the same. */
  readonly version: string;
}

/** A file as it counts: it was the same at two looks, or was saved here. */
export interface KnownFile {
  listed: ListedFile;
  read: ReadFile | undefined;
  good: (GoodVersion & { readonly id: string; readonly bytes: number }) | undefined;
  /** True when the file has to be read, perhaps again, because it has changed, or a file that it names. */
  isOutdated: boolean;
  /** The bytes for which there was no room. */
  lackingBytes: number | undefined;
  /** How often in a row the file was not there: an editor may delete a file to write it again. */
  absences: number;
  /** Changes whenever the file is read. */
  version: string;
}

export interface FolderEntries {
  /** By tenant, id and file. */
  readonly sorted: readonly FolderEntry[];
  /** By {@link toEntryKey}: of two files with one id, the first has it. */
  readonly byId: ReadonlyMap<string, FolderEntry>;
}

/** Makes the entries of what is known of files, by path. */
export function deriveEntries(files: ReadonlyMap<string, KnownFile>): FolderEntries {
  const owners = new Map<string, string>();
  const known = [...files].filter(([, { read }]) => read !== undefined);
  known.sort(([a], [b]) => compareText(a, b));
  for (const [path, { listed, good }] of known) {
    if (good === undefined) continue;
    const key = toEntryKey(listed.tenantId, good.id);
    if (!owners.has(key)) owners.set(key, path);
  }
  const byId = new Map<string, FolderEntry>();
  const entries = known.map(([path, file]) => toEntry(path, file, owners));
  for (const entry of entries) {
    const key = toEntryKey(entry.listed.tenantId, entry.id);
    if (!byId.has(key) || owners.get(key) === entry.listed.file) byId.set(key, entry);
  }
  const sorted = entries.sort((a, b) => comparePlace(toPlace(a), toPlace(b)));
  return { sorted, byId };
}

/** The place of an entry in the list. */
export type EntryPlace = readonly [tenantId: string, id: string, file: string];

export function toPlace({ id, listed: { tenantId, file } }: FolderEntry): EntryPlace {
  return [tenantId, id, file];
}

export function comparePlace(a: EntryPlace, b: EntryPlace): number {
  return compareText(a[0], b[0]) || compareText(a[1], b[1]) || compareText(a[2], b[2]);
}

export function toEntryKey(tenantId: string, id: string): string {
  return JSON.stringify([tenantId, id]);
}

function toEntry(
  path: string,
  { listed, read, good, version }: KnownFile,
  owners: ReadonlyMap<string, string>,
): FolderEntry {
  const id = good?.id ?? read?.id ?? toStem(path);
  const owner = owners.get(toEntryKey(listed.tenantId, id));
  const isDuplicate = owner !== undefined && owner !== path;
  const message = `"${id}" is the id of ${owner} too, which comes first`;
  const duplicate = fileProblem('duplicate_id', message, 'give one of them another id');
  return {
    listed,
    id,
    kind: good?.kind ?? read?.kind ?? 'pipeline',
    problems: [...(isDuplicate ? [duplicate] : []), ...(read?.problems ?? [])],
    good: isDuplicate ? undefined : good,
    isValid: read?.good !== undefined && !isDuplicate,
    version: isDuplicate ? `${version} ${owner}` : version,
  };
}

/** The id of a file that has none that can be read: its name, as far as that can be one. */
function toStem(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
  const stem = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').replace(/^[.-]/, '_');
  return stem.slice(0, 128) || '_';
}
