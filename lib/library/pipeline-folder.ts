import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../common/clock.js';
import { errorMessage, WavetrainError } from '../common/errors.js';
import { describeErrno } from '../common/files.js';
import { LIBRARY_LIMITS } from '../common/limits.js';
import type { Problem } from '../definition/problem.js';
import type { DefinitionKind } from '../definition/schema/root.js';
import { compareText, forEachOf, type ListedFile, listDefinitionFiles, type Listing } from './list-files.js';
import {
  fileProblem,
  type GoodVersion,
  type ReadFile,
  readFolderFile,
  type FileReading,
} from './read-definition.js';

/** Where the folder says what the operator should know. */
export interface LibraryLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

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
}

interface KnownFile {
  listed: ListedFile;
  read: ReadFile | undefined;
  /** The signature of what was read. */
  signature: string | undefined;
  good: (GoodVersion & { readonly id: string }) | undefined;
  /** Found with this signature, which must be the same at the next look, or it is still being written. */
  unsettled: string | undefined;
  /** How often in a row it was not there: an editor may delete a file to write it again. */
  absences: number;
}

export interface FolderOptions {
  /** Absolute. */
  readonly path: string;
  readonly isTenant: (name: string) => boolean;
  readonly reading: FileReading;
  readonly clock: Clock;
  readonly log: LibraryLog;
}

/**
 * The definitions of a folder (D69). It looks at the folder every 2 seconds, because no other means works on every file
 * system. A file that has changed counts when it is the same at two looks, and its last version without errors stays in use
 * until there is another one.
 */
export class PipelineFolder {
  /** All symbolic links followed. */
  readonly root: string;
  readonly #options: FolderOptions;
  readonly #known = new Map<string, KnownFile>();
  #files: Listing['files'] = new Map();
  #entries: readonly FolderEntry[] = [];
  #byId = new Map<string, FolderEntry>();
  #skipped: Listing['skipped'] = new Map();
  #failure: string | undefined;
  #timer: unknown;
  #isClosed = false;
  /** The look that is going on, after all before it. */
  #looking: Promise<void> = Promise.resolve();
  #onChange: () => void = () => undefined;

  private constructor(root: string, options: FolderOptions) {
    this.root = root;
    this.#options = options;
  }

  /** Rejects with `bad_usage` when there is no such folder. */
  static async open(options: FolderOptions): Promise<PipelineFolder> {
    try {
      const root = await realpath(options.path);
      // Fails for what is no folder.
      await listDefinitionFiles(root, options.isTenant);
      return new PipelineFolder(root, options);
    } catch (error) {
      const message = `cannot read the folder of SERVICE_PIPELINES, ${options.path}: ${describeErrno(error)}`;
      throw new WavetrainError('bad_usage', message, { cause: error });
    }
  }

  /** By tenant, id and file. */
  get entries(): readonly FolderEntry[] {
    return this.#entries;
  }

  get files(): Listing['files'] {
    return this.#files;
  }

  /** The entry of an id, which has no version without errors perhaps. */
  find(tenantId: string, id: string): FolderEntry | undefined {
    return this.#byId.get(toKey(tenantId, id));
  }

  /** Reads all files, then looks for changes until it is closed. @param onChange called after each change */
  async watch(onChange: () => void): Promise<void> {
    this.#onChange = onChange;
    await this.look(true);
    this.#schedule();
  }

  /**
   * Looks at the folder now, after the look that is going on.
   *
   * @param atOnce takes what it finds as settled: all of it, or one file
   */
  look(atOnce: boolean | string = false): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look(atOnce));
    return this.#looking;
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const isUnsettled = [...this.#known.values()].some(
      ({ unsettled, absences }) => unsettled !== undefined || absences > 0,
    );
    const delayMs = isUnsettled ? LIBRARY_LIMITS.settleMs : LIBRARY_LIMITS.pollMs;
    this.#timer = this.#options.clock.setTimeout(() => {
      void this.look().then(() => this.#schedule());
    }, delayMs);
  }

  async #look(atOnce: boolean | string): Promise<void> {
    if (this.#isClosed) return;
    let listing: Listing;
    try {
      listing = await listDefinitionFiles(this.root, this.#options.isTenant);
    } catch (error) {
      // Nothing is known to have gone.
      this.#warnOfFolder(describeErrno(error));
      return;
    }
    this.#warnOfFolder(undefined);
    this.#warnOfSkipped(listing.skipped);
    this.#files = listing.files;
    const changed = this.#findChanged(listing.files, atOnce);
    if (changed.size === 0) return;
    await this.#read(changed);
    if (this.#isClosed) return;
    this.#derive();
    this.#onChange();
  }

  /** Returns the paths of files that have changed or gone, and of the plans beside or above them. */
  #findChanged(files: Listing['files'], atOnce: boolean | string): ReadonlySet<string> {
    const changed = new Set<string>();
    for (const [path, listed] of files) {
      const known = this.#know(path, listed);
      known.listed = listed;
      known.absences = 0;
      const isSame = known.signature === listed.signature;
      const isSettled = known.unsettled === listed.signature || atOnce === true || atOnce === path;
      if (!isSame && isSettled) changed.add(path);
      known.unsettled = isSame ? undefined : listed.signature;
    }
    for (const [path, known] of this.#known) {
      if (files.has(path) || (atOnce !== true && known.absences++ === 0)) continue;
      this.#known.delete(path);
      changed.add(path);
    }
    const folders = new Set([...changed].map(dirname));
    for (const [path, { read }] of this.#known) {
      if (read?.kind === 'plan' && [...folders].some((folder) => isBelow(folder, dirname(path))))
        changed.add(path);
    }
    return changed;
  }

  #know(path: string, listed: ListedFile): KnownFile {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const added: KnownFile = {
      listed,
      read: undefined,
      signature: undefined,
      good: undefined,
      unsettled: undefined,
      absences: 0,
    };
    this.#known.set(path, added);
    return added;
  }

  async #read(changed: ReadonlySet<string>): Promise<void> {
    const { reading, log } = this.#options;
    const room = this.#measureRoom();
    await forEachOf(changed, LIBRARY_LIMITS.concurrency, async (path) => {
      const known = this.#known.get(path);
      if (known === undefined || this.#isClosed) return;
      const { listed } = known;
      const tooLong = room.get(path);
      try {
        known.read =
          tooLong === undefined
            ? await readFolderFile(listed, this.#files, reading)
            : { kind: known.read?.kind ?? 'pipeline', id: undefined, problems: [tooLong], good: undefined };
      } catch (error) {
        // The parser may be busy, or the server is shutting down: the next look tries it again.
        log.warn({ file: path }, `cannot check a file of SERVICE_PIPELINES: ${errorMessage(error)}`);
        return;
      }
      known.signature = listed.signature;
      known.unsettled = undefined;
      const { id, good } = known.read;
      if (good !== undefined && id !== undefined) known.good = { ...good, id };
    });
  }

  /** The problems of files for which there is no room, by path: those that come first have it. */
  #measureRoom(): ReadonlyMap<string, Problem> {
    const used = new Map<string, number>();
    const problems = new Map<string, Problem>();
    let total = 0;
    for (const [path, { tenantId, bytes }] of this.#files) {
      const ofTenant = (used.get(tenantId) ?? 0) + bytes;
      if (total + bytes > LIBRARY_LIMITS.bytes || ofTenant > LIBRARY_LIMITS.tenantBytes) {
        const message = `the files of the folder are larger than ${LIBRARY_LIMITS.bytes / 2 ** 20} MiB together, or those of a tenant larger than ${LIBRARY_LIMITS.tenantBytes / 2 ** 20} MiB`;
        problems.set(path, fileProblem('too_large', message));
        continue;
      }
      used.set(tenantId, ofTenant);
      total += bytes;
    }
    return problems;
  }

  /** Makes the entries of what is known: of two files with one id, the first has it. */
  #derive(): void {
    const owners = new Map<string, string>();
    const known = [...this.#known].filter(([, { read }]) => read !== undefined);
    known.sort(([a], [b]) => compareText(a, b));
    for (const [path, { listed, good }] of known) {
      if (good === undefined) continue;
      const key = toKey(listed.tenantId, good.id);
      if (!owners.has(key)) owners.set(key, path);
    }
    const entries = known.map(([path, file]) => toEntry(path, file, owners));
    this.#byId = new Map();
    for (const entry of entries) {
      const key = toKey(entry.listed.tenantId, entry.id);
      if (!this.#byId.has(key) || owners.get(key) === entry.listed.file) this.#byId.set(key, entry);
    }
    this.#entries = entries.sort(
      (a, b) =>
        compareText(a.listed.tenantId, b.listed.tenantId) ||
        compareText(a.id, b.id) ||
        compareText(a.listed.file, b.listed.file),
    );
  }

  #warnOfFolder(failure: string | undefined): void {
    if (failure === this.#failure) return;
    this.#failure = failure;
    const { log } = this.#options;
    if (failure === undefined) log.info({}, 'the folder of SERVICE_PIPELINES can be read again');
    else
      log.warn(
        {},
        `cannot read the folder of SERVICE_PIPELINES: ${failure}; what was read before stays in use`,
      );
  }

  /** Says of each file once why it is left out. */
  #warnOfSkipped(skipped: Listing['skipped']): void {
    let left = MAX_WARNINGS;
    for (const [file, reason] of skipped) {
      if (this.#skipped.get(file) === reason || left-- <= 0) continue;
      this.#options.log.warn({ file }, `a file of SERVICE_PIPELINES is left out: ${reason}`);
    }
    this.#skipped = skipped;
  }
}

/** Of one look. */
const MAX_WARNINGS = 20;

function isBelow(folder: string, above: string): boolean {
  return above === '.' || folder === above || folder.startsWith(`${above}/`);
}

function toEntry(
  path: string,
  { listed, read, good }: KnownFile,
  owners: ReadonlyMap<string, string>,
): FolderEntry {
  const id = good?.id ?? read?.id ?? toStem(path);
  const owner = owners.get(toKey(listed.tenantId, id));
  const isDuplicate = owner !== undefined && owner !== path;
  const problems = [
    ...(isDuplicate
      ? [
          fileProblem(
            'duplicate_id',
            `"${id}" is the id of ${owner} too, which comes first`,
            'give one of them another id',
          ),
        ]
      : []),
    ...(read?.problems ?? []),
  ];
  return {
    listed,
    id,
    kind: good?.kind ?? read?.kind ?? 'pipeline',
    problems,
    good: isDuplicate ? undefined : good,
    isValid: read?.good !== undefined && !isDuplicate,
  };
}

/** The id of a file that has none that can be read: its name, as far as that can be one. */
function toStem(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
  const stem = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').replace(/^[.-]/, '_');
  return stem.slice(0, 128) || '_';
}

function toKey(tenantId: string, id: string): string {
  return JSON.stringify([tenantId, id]);
}
