import { realpath } from 'node:fs/promises';
import type { Clock } from '../common/clock.js';
import { errorMessage, ToolError, WavetrainError } from '../common/errors.js';
import { describeErrno } from '../common/files.js';
import {
  deriveEntries,
  type FolderEntries,
  type FolderEntry,
  type KnownFile,
  toEntryKey,
} from './folder-entries.js';
import { FolderRoom } from './folder-room.js';
import { LIBRARY_LIMITS } from './limits.js';
import { mapSome } from '../common/scheduling/concurrency-limiter.js';
import { inspectFile, type ListedFile, listDefinitionFiles, type Listing } from './list-files.js';
import { isUpToDate, mayUse, type TenantFiles } from './plan-files.js';
import {
  fileProblem,
  type FileReading,
  type ReadFile,
  readFolderFile,
  withoutDefinition,
} from './read-definition.js';
import { readFileContent } from './write-file.js';

/** Where the folder says what the operator should know. */
export interface LibraryLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface SavedText {
  readonly file: string;
  readonly tenantId: string;
  /** Of the content. */
  readonly version: string;
  readonly read: ReadFile;
}

export interface FolderOptions {
  /** Absolute. */
  readonly path: string;
  readonly isTenant: (name: string) => boolean;
  readonly reading: FileReading;
  readonly clock: Clock;
  readonly log: LibraryLog;
  /** Makes versions of entries that no other process makes. */
  readonly newId: () => string;
}

interface Update {
  isToRepeat: boolean;
  readonly done: Promise<void>;
}

/**
 * The definitions of a folder (D69). It looks at the folder every 2 seconds, because no other means works on every file
 * system. A file that has changed counts when it is the same at two looks, and its last version without errors stays in use
 * until there is another one. The files of each tenant are read by themselves, so that none waits for those of another.
 */
export class PipelineFolder {
  /** All symbolic links followed. */
  readonly root: string;
  readonly room = new FolderRoom();
  readonly #options: FolderOptions;
  readonly #known = new Map<string, KnownFile>();
  /** The signatures of files that have changed, and must be the same at the next look, or they are still being written. */
  readonly #unsettled = new Map<string, string>();
  /** How often the files of a tenant have changed. */
  readonly #changes = new Map<string, number>();
  /** By tenant. */
  readonly #updates = new Map<string, Update>();
  readonly #versionPrefix: string;
  #versions = 0;
  #publishedVersion = 0;
  #entries: FolderEntries = { sorted: [], byId: new Map() };
  /** Files that were saved here since the folder was listed last: a listing that goes on may not have them. */
  #saved = new Map<string, ListedFile>();
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
    this.#versionPrefix = options.newId();
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
    return this.#entries.sorted;
  }

  /** The entry of an id, which has no version without errors perhaps. */
  find(tenantId: string, id: string): FolderEntry | undefined {
    return this.#entries.byId.get(toEntryKey(tenantId, id));
  }

  filesOf(tenantId: string): TenantFiles {
    const [known, changes] = [this.#known, this.#changes];
    return {
      get changes() {
        return changes.get(tenantId) ?? 0;
      },
      find: (path) => {
        const listed = known.get(path)?.listed;
        return listed?.tenantId === tenantId ? listed : undefined;
      },
    };
  }

  /** The last version without errors of a file of a tenant, relative to the folder. */
  goodVersion(tenantId: string, path: string): KnownFile['good'] {
    const known = this.#known.get(path);
    return known?.listed.tenantId === tenantId ? known.good : undefined;
  }

  /** Reads all files, then looks for changes until it is closed. @param onChange called after each change */
  async watch(onChange: () => void): Promise<void> {
    this.#onChange = onChange;
    await this.look(true);
    this.#schedule();
  }

  /**
   * Looks at the folder now, after the look that is going on. Resolves when what has changed was read.
   *
   * @param atOnce takes what it finds as settled
   */
  async look(atOnce = false): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look(atOnce));
    await this.#looking;
    await Promise.all([...this.#updates.values()].map(({ done }) => done));
  }

  /** Uses a file that was saved at once, unless it has another content by now; then plans that name it are read again. */
  async use({ file, tenantId, version, read }: SavedText): Promise<void> {
    const listed = await inspectFile({ file, tenantId, isLink: false }, this.root);
    const isSame = listed !== undefined && (await this.#hasVersion(listed, version));
    if (this.#isClosed) return;
    if (!isSame) return this.holdRoom(file, tenantId);
    this.#saved.set(file, listed);
    const isCurrent = isUpToDate(read.used, this.filesOf(tenantId));
    this.#accept(this.#count(file, listed), read, isCurrent);
    this.#publish();
    void this.#update(tenantId);
  }

  /** Lets a file hold the room that it takes: that of its content, or of its last version without errors if that is longer. */
  holdRoom(path: string, tenantId: string): void {
    const known = this.#known.get(path);
    if (known === undefined) return this.room.release(path);
    const { read, lackingBytes, good } = known;
    const bytes = lackingBytes === undefined ? (read?.used.bytes ?? 0) : 0;
    this.room.hold(path, tenantId, Math.max(bytes, good?.bytes ?? 0));
  }

  /** Reads all files again: there are other tools, with which other things are wrong. */
  readAgain(): void {
    for (const known of this.#known.values()) known.isOutdated = true;
    for (const tenantId of this.#findOutdatedTenants()) void this.#update(tenantId);
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const isUnsettled =
      this.#unsettled.size > 0 || [...this.#known.values()].some(({ absences }) => absences > 0);
    const delayMs = isUnsettled ? LIBRARY_LIMITS.settleMs : LIBRARY_LIMITS.pollMs;
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#looking = this.#looking.then(() => this.#look(false));
      void this.#looking.then(() => this.#schedule());
    }, delayMs);
  }

  async #look(atOnce: boolean): Promise<void> {
    if (this.#isClosed) return;
    let listing: Listing;
    const saved = (this.#saved = new Map<string, ListedFile>());
    try {
      listing = await listDefinitionFiles(this.root, this.#options.isTenant);
    } catch (error) {
      // Nothing is known to have gone.
      this.#warnOfFolder(describeErrno(error));
      return;
    }
    if (this.#isClosed) return;
    this.#warnOfFolder(undefined);
    this.#warnOfSkipped(listing.skipped);
    this.#compare(new Map([...listing.files, ...saved]), atOnce);
    for (const tenantId of this.#findOutdatedTenants()) void this.#update(tenantId);
    this.#publish();
  }

  #compare(files: Listing['files'], atOnce: boolean): void {
    for (const [path, listed] of files) {
      const { signature } = listed;
      const known = this.#known.get(path);
      if (known !== undefined) known.absences = 0;
      const isSame = known?.listed.signature === signature;
      const isSettled = atOnce || this.#unsettled.get(path) === signature;
      if (!isSame && isSettled) this.#count(path, listed);
      if (isSame || isSettled) this.#unsettled.delete(path);
      else this.#unsettled.set(path, signature);
    }
    for (const path of this.#unsettled.keys()) if (!files.has(path)) this.#unsettled.delete(path);
    for (const [path, known] of this.#known) {
      if (files.has(path) || known.absences++ === 0) continue;
      this.#known.delete(path);
      this.room.release(path);
      this.#versions++;
      this.#markPlans(path, known.listed.tenantId);
    }
  }

  #count(path: string, listed: ListedFile): KnownFile {
    const known: KnownFile = this.#known.get(path) ?? {
      listed,
      read: undefined,
      good: undefined,
      isOutdated: true,
      lackingBytes: undefined,
      absences: 0,
      version: '',
    };
    this.#known.set(path, known);
    known.listed = listed;
    known.isOutdated = true;
    this.#unsettled.delete(path);
    this.#markPlans(path, listed.tenantId);
    return known;
  }

  /** Has the plans of a tenant read again that may be others now that one of its files is. */
  #markPlans(path: string, tenantId: string): void {
    this.#changes.set(tenantId, (this.#changes.get(tenantId) ?? 0) + 1);
    for (const [planPath, known] of this.#known) {
      const { listed, read } = known;
      if (listed.tenantId !== tenantId || read?.kind !== 'plan') continue;
      if (mayUse(planPath, read.used, path)) known.isOutdated = true;
    }
  }

  #findOutdatedTenants(): ReadonlySet<string> {
    const outdated = [...this.#known.values()].filter((known) => this.#isToBeRead(known));
    return new Set(outdated.map(({ listed }) => listed.tenantId));
  }

  #isToBeRead({ isOutdated, lackingBytes, listed: { file, tenantId } }: KnownFile): boolean {
    return isOutdated || (lackingBytes !== undefined && this.room.hasRoom(file, tenantId, lackingBytes));
  }

  /** Reads the files of a tenant that have changed, and those that change meanwhile. Never rejects. */
  #update(tenantId: string): Promise<void> {
    const running = this.#updates.get(tenantId);
    if (running !== undefined) {
      running.isToRepeat = true;
      return running.done;
    }
    const update = { isToRepeat: false, done: Promise.resolve() };
    this.#updates.set(tenantId, update);
    update.done = this.#readAll(tenantId, update);
    return update.done;
  }

  async #readAll(tenantId: string, update: Update): Promise<void> {
    do {
      update.isToRepeat = false;
      const outdated = [...this.#known.values()].filter(
        (known) => known.listed.tenantId === tenantId && this.#isToBeRead(known),
      );
      await mapSome(outdated, LIBRARY_LIMITS.concurrency, (known) => this.#read(known));
      this.#publish();
    } while (update.isToRepeat && !this.#isClosed);
    this.#updates.delete(tenantId);
  }

  async #read(known: KnownFile): Promise<void> {
    const { reading, log } = this.#options;
    const { listed } = known;
    const { file, tenantId, bytes } = listed;
    if (this.#isClosed || this.#known.get(file) !== known) return;
    if (!this.room.hasRoom(file, tenantId, bytes)) {
      const kind = known.read?.kind ?? 'pipeline';
      return this.#accept(known, { ...withoutDefinition([], bytes), kind }, true);
    }
    this.room.hold(file, tenantId, Math.max(bytes, this.room.heldBy(file)));
    let read: ReadFile | undefined;
    try {
      read = await readFolderFile(listed, this.filesOf(tenantId), reading);
    } catch (error) {
      // The parser may be busy, or the server is shutting down: the next look tries it again.
      log.warn({ file }, `cannot check a file of SERVICE_PIPELINES: ${errorMessage(error)}`);
    }
    // Otherwise the file is gone, or has changed meanwhile and is read again.
    if (this.#known.get(file) !== known) return;
    if (read === undefined || known.listed !== listed) this.holdRoom(file, tenantId);
    else this.#accept(known, read, isUpToDate(read.used, this.filesOf(tenantId)));
  }

  /**
   * Takes over what was read of a file, as far as there is room for it.
   *
   * @param isCurrent the files that it names are the same now
   */
  #accept(known: KnownFile, read: ReadFile, isCurrent: boolean): void {
    const { file, tenantId } = known.listed;
    const { bytes } = read.used;
    const hasRoom = this.room.hasRoom(file, tenantId, bytes);
    const problems = read.problems.slice(0, LIBRARY_LIMITS.problems);
    known.read = hasRoom
      ? { ...read, problems }
      : { ...read, problems: [NO_ROOM, ...problems], good: undefined };
    known.lackingBytes = hasRoom ? undefined : bytes;
    known.isOutdated = !isCurrent;
    const { id, good } = known.read;
    if (good !== undefined && id !== undefined) known.good = { ...good, id, bytes };
    known.version = `${this.#versionPrefix} ${++this.#versions}`;
    this.holdRoom(file, tenantId);
  }

  async #hasVersion({ realPath, file }: ListedFile, version: string): Promise<boolean> {
    try {
      const content = await readFileContent(realPath, file, this.#options.reading.limitBytes);
      return content.version === version;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return false;
    }
  }

  #publish(): void {
    if (this.#versions === this.#publishedVersion || this.#isClosed) return;
    this.#publishedVersion = this.#versions;
    this.#entries = deriveEntries(this.#known);
    this.#onChange();
  }

  #warnOfFolder(failure: string | undefined): void {
    if (failure === this.#failure) return;
    this.#failure = failure;
    const { log } = this.#options;
    if (failure === undefined) return log.info({}, 'the folder of SERVICE_PIPELINES can be read again');
    const message = `cannot read the folder of SERVICE_PIPELINES: ${failure}; what was read before stays in use`;
    log.warn({}, message);
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

const NO_ROOM = fileProblem(
  'too_large',
  `there is no room for it: the definitions of a tenant may have ${LIBRARY_LIMITS.tenantBytes / 2 ** 20} MiB together, and those of all tenants ${LIBRARY_LIMITS.bytes / 2 ** 20} MiB beyond their shares`,
  'shorten or remove other files; a plan counts with the files that it names',
);
