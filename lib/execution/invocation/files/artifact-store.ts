import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { errorMessage, ToolError } from '../../../common/errors.js';
import { makeFolders } from '../../../common/files.js';
import { MAX_ARTIFACTS } from '../../../common/limits.js';
import { warnHost } from '../../../common/warnings.js';
import { foldName } from '../../../tools/files/file-name.js';
import { isLargeFile, type MemoryBudget } from '../../memory-budget.js';
import type { RunArtifact } from '../../results.js';
import { ArtifactNames } from './artifact-names.js';
import { isInOwnFolders, makeOwnFolder } from './own-folder.js';
import { type ArtifactSource, groupBySource, type PublishedFile, toSourceKey } from './published-file.js';

const NO_ARTIFACTS: readonly RunArtifact[] = [];

/** The bytes of a file, or pieces of them: each piece is used before the next one is asked for. */
export type FileBytes = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * The files that tools write (D63) or return as bytes (D24), in a folder of one executor that only its user may read. Each
 * run has a folder in it, which is created when first needed, and lives as long as the run is known.
 */
export class ArtifactStore {
  readonly #path: string;
  readonly #isKept: boolean;
  readonly #folders = new Map<string, ArtifactFolder>();
  /** Where the files go that tools write by name; undefined: into the folder of their run. */
  readonly filesFolder: string | undefined;
  /** A name that nobody else uses, not even another process with the same folder. */
  readonly name: string;
  /** True when the files belong to runs that go on in another process (D68). */
  readonly outlivesProcess: boolean;
  #hasWarned = false;

  /**
   * @param path of a folder that does not exist, with a name that nobody can foresee, or of the files of stored runs
   * @param isKept keeps the files when their runs are forgotten, and when the store closes
   * @param storedName names unfinished files of runs that outlive the process
   */
  constructor(path: string, isKept: boolean, filesFolder?: string, storedName?: string) {
    this.#path = path;
    this.#isKept = isKept;
    this.filesFolder = filesFolder;
    this.outlivesProcess = storedName !== undefined;
    this.name = storedName ?? basename(path);
  }

  /** Lists the files that another process has reported of a run, and reports those that this one publishes (D68). */
  restore(
    runId: string,
    budget: MemoryBudget,
    files: readonly PublishedFile[],
    onPublished: (files: readonly PublishedFile[]) => void,
  ): void {
    const folder = this.open(runId, budget);
    folder.restore(files.map(this.#toAbsolute), budget);
    folder.onPublished = (published) => onPublished(published.map(this.#toRelative));
  }

  /** The files of a run as they are reported: those in its folder have paths from the folder of the store, which may be moved. */
  storedFilesOf(runId: string): PublishedFile[] {
    return (this.#folders.get(runId)?.published ?? []).map(this.#toRelative);
  }

  readonly #toRelative = (file: PublishedFile): PublishedFile => {
    const inside = relative(this.#path, file.path);
    return inside.startsWith('..') ? file : { ...file, path: inside };
  };

  readonly #toAbsolute = (file: PublishedFile): PublishedFile => ({
    ...file,
    path: resolve(this.#path, file.path),
  });

  /** The files of a run. @param budget of the submitted run, which files take memory from, as other outputs do */
  open(runId: string, budget: MemoryBudget): ArtifactFolder {
    let folder = this.#folders.get(runId);
    if (folder === undefined) {
      folder = new ArtifactFolder(join(this.#path, runId), this, budget);
      this.#folders.set(runId, folder);
    }
    return folder;
  }

  /** The files of a run, in the order of their names. */
  artifactsOf(runId: string): readonly RunArtifact[] {
    return this.#folders.get(runId)?.artifacts ?? NO_ARTIFACTS;
  }

  /** Returns the path of a file of a run, and what is listed of it; undefined when there is no such file. */
  find(runId: string, name: string): PublishedFile | undefined {
    return this.#folders.get(runId)?.find(name);
  }

  /** Returns true when a run has files, or may reuse some. */
  hasFiles(runId: string): boolean {
    return this.#folders.get(runId)?.hasFiles ?? false;
  }

  /** Lists the files of a task, or of one of its items, whose earlier output a rerun reuses. */
  listReused(runId: string, earlier: ArtifactSource, item?: number): void {
    this.#folders.get(runId)?.listReused(earlier, item);
  }

  /** Memory that the files of a run take, with all files of the runs that it reuses. */
  bytesOf(runId: string): number {
    return this.#folders.get(runId)?.bytes ?? 0;
  }

  /** Keeps the files of an earlier run for as long as a rerun that reuses its outputs (D35). */
  reuse(sourceRunId: string, runId: string, budget: MemoryBudget): void {
    const source = this.#folders.get(sourceRunId);
    if (source !== undefined) this.open(runId, budget).reuse(source);
  }

  /**
   * Removes the files of a run that is forgotten, unless a rerun uses them. The store of the runs removes files that outlive
   * the process: a rerun that uses them may not be in memory.
   */
  forget(runId: string): void {
    const folder = this.#folders.get(runId);
    this.#folders.delete(runId);
    if (!this.#isKept) folder?.releaseUser();
  }

  /** Forgets the list of the files, which stay: the run can be read again from the store that has it. */
  unload(runId: string): void {
    this.#folders.delete(runId);
  }

  /** Removes all files, unless they are kept. Resolves when they are gone; never rejects. */
  async close(): Promise<void> {
    if (this.#isKept || this.outlivesProcess) return;
    const folders = [...this.#folders.values()];
    this.#folders.clear();
    await Promise.all(folders.map((folder) => folder.close()));
    if (folders.length > 0) await this.remove(this.#path);
  }

  /** Creates the folder of the store and one in it. Rejects when something else has taken the place of the first. */
  async create(folder: string): Promise<void> {
    await makeFolders(dirname(this.#path));
    await makeOwnFolder(this.#path);
    await makeOwnFolder(folder);
  }

  /** Opens a file of a run for reading. Rejects also when a link, or a folder of somebody else, has replaced it or its folder. */
  async openFile(path: string): Promise<FileHandle> {
    if (!(await isInOwnFolders(this.#path, path)))
      throw new ToolError(`${dirname(path)} is not a folder of this process`);
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  }

  /** Removes a file, a folder or a link, and nothing that is not ours. Never rejects: nobody waits. Warns of the first failure. */
  async remove(path: string): Promise<void> {
    try {
      if (await isInOwnFolders(this.#path, path)) await rm(path, { recursive: true, force: true });
    } catch (error) {
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      warnHost(`files of a run could not be removed: ${errorMessage(error)}`);
    }
  }
}

/** The files of one run, with those of its nested runs and sub-pipelines. */
export class ArtifactFolder {
  readonly names = new ArtifactNames();
  /** Reports published files; set in a run that another process may go on with. */
  onPublished: ((files: readonly PublishedFile[]) => void) | undefined;
  readonly #path: string;
  readonly #store: ArtifactStore;
  #budget: MemoryBudget;
  readonly #files = new Map<string, PublishedFile>();
  /** The files in the order of their names; undefined when the list is to be made. */
  #sorted: readonly RunArtifact[] | undefined;
  /** The files by task, and by task and item; undefined when the map is to be made. */
  #bySource: ReadonlyMap<string, readonly PublishedFile[]> | undefined;
  /** The removals of files that other files may replace, by path. */
  readonly #removals = new Map<string, Promise<void>>();
  readonly #atWork = new Set<Promise<unknown>>();
  #sources: ArtifactFolder[] = [];
  #users = 1;
  #staged = 0;
  #count = 0;
  #bytes = 0;
  #diskBytes = 0;

  constructor(path: string, store: ArtifactStore, budget: MemoryBudget) {
    this.#path = path;
    this.#store = store;
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The number of files, with those that are being written, and those that are reused as soon as they are listed. */
  get count(): number {
    return this.#count;
  }

  /** True when there are files, or some of another run that may be reused. */
  get hasFiles(): boolean {
    return this.#count > 0 || this.#sources.some(({ hasFiles }) => hasFiles);
  }

  /** The files of successful attempts, in the order of their names. */
  get artifacts(): readonly RunArtifact[] {
    this.#sorted ??= [...this.#files.values()]
      .map(({ artifact }) => artifact)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  get published(): readonly PublishedFile[] {
    return [...this.#files.values()];
  }

  find(name: string): PublishedFile | undefined {
    return this.#files.get(name);
  }

  /** The path of a file that a tool wrote. */
  pathOfFile(name: string): string {
    return join(this.#store.filesFolder ?? this.#path, name);
  }

  /** The path of a file for bytes that a tool returned. */
  pathOfBytes(name: string): string {
    return join(this.#path, name);
  }

  /** A path beside that of a file, where nothing else is. */
  nextStagedPath(path: string): string {
    return join(dirname(path), `.${this.#store.name}-${basename(this.#path)}-${++this.#staged}`);
  }

  /** Keeps the files of another run for as long as these. Their memory was taken with the rest of the reused outputs; their disk is taken here. */
  reuse(source: ArtifactFolder): void {
    source.#users++;
    this.#sources.push(source);
    this.#bytes += source.#bytes;
    this.#budget.takeDisk(source.#diskBytes);
    this.#diskBytes += source.#diskBytes;
  }

  /** Lists the files of a task, or of one of its items, whose earlier output is reused. They count from now on. */
  listReused(earlier: ArtifactSource, item: number | undefined): void {
    for (const source of this.#sources) {
      for (const { artifact, path } of source.#filesOf(earlier)) {
        this.names.takeExactly(artifact.name);
        if (!this.#files.has(artifact.name)) this.#count++;
        this.addToList([{ artifact: item === undefined ? artifact : { ...artifact, item }, path }]);
      }
    }
  }

  #filesOf(source: ArtifactSource): readonly PublishedFile[] {
    this.#bySource ??= groupBySource(this.#files.values());
    return this.#bySource.get(toSourceKey(source)) ?? [];
  }

  /** Takes the memory of a file. @throws ToolError, not retryable, when the run has none left, or too many files */
  reserve(bytes: number): void {
    if (this.#count >= MAX_ARTIFACTS) {
      throw ToolError.nonRetryable(
        `the run has ${MAX_ARTIFACTS} files, and more are not allowed: write fewer files`,
      );
    }
    this.#budget.reserveFile(bytes);
    this.#count++;
    if (isLargeFile(bytes)) this.#diskBytes += bytes;
    else this.#bytes += bytes;
  }

  /** Returns the memory of a file. */
  release(bytes: number): void {
    this.#budget.releaseFile(bytes);
    this.#count--;
    if (isLargeFile(bytes)) this.#diskBytes -= bytes;
    else this.#bytes -= bytes;
  }

  reserveDisk(bytes: number): void {
    this.#budget.reserveDisk(bytes);
  }

  releaseDisk(bytes: number): void {
    this.#budget.releaseDisk(bytes);
  }

  async write(path: string, content: FileBytes): Promise<void> {
    const { filesFolder } = this.#store;
    const isForUser = dirname(path) === filesFolder;
    if (isForUser) await makeFolders(filesFolder);
    else await this.#store.create(this.#path);
    // `wx` creates the file, and thus never follows a link.
    const mode = isForUser ? 0o666 : 0o600;
    // A file whose fact is on the disk must be there after a power cut as well.
    await writeFile(path, content, { flag: 'wx', mode, flush: this.#store.outlivesProcess });
  }

  /** Replaces a file, or a link, that is at the new path. Waits until an earlier file has been removed from there. */
  async move(from: string, to: string): Promise<void> {
    await this.#removals.get(foldName(to));
    await rename(from, to);
  }

  /** Frees the names of files being removed: another attempt gets them at once, and moves its files there after the removal. */
  freeNames(files: readonly PublishedFile[], removed: Promise<void>): void {
    const keys = files.map(({ path }) => foldName(path));
    for (const { artifact } of files) this.names.release(artifact.name);
    for (const key of keys) this.#removals.set(key, removed);
    void removed.then(() => {
      for (const key of keys) if (this.#removals.get(key) === removed) this.#removals.delete(key);
    });
  }

  removeFile(path: string): Promise<void> {
    return this.#store.remove(path);
  }

  /** Lists files of which another process had taken the memory and the names. Reruns may have listed some of them already. */
  restore(files: readonly PublishedFile[], budget: MemoryBudget): void {
    this.#budget = budget;
    for (const { artifact } of files) {
      const isListed = this.#files.has(artifact.name);
      this.names.takeExactly(artifact.name);
      if (isListed) budget.reserveFile(artifact.size);
      else this.reserve(artifact.size);
    }
    this.addToList(files);
  }

  /** Adds the files of an attempt that has succeeded to those of the run. */
  publish(files: readonly PublishedFile[]): void {
    this.addToList(files);
    this.onPublished?.(files.map(({ artifact, path }) => ({ artifact, path })));
  }

  /** Adds files that are complete to those of the run. */
  addToList(files: readonly PublishedFile[]): void {
    for (const file of files) this.#files.set(file.artifact.name, file);
    this.#sorted = undefined;
    this.#bySource = undefined;
  }

  /** Waits for this work before the folder is removed. */
  track<T>(work: Promise<T>): Promise<T> {
    const settled = work.catch(() => undefined);
    this.#atWork.add(settled);
    void settled.then(() => this.#atWork.delete(settled));
    return work;
  }

  /** Call when the run, or a rerun that reuses its files, is forgotten. Removes the files after the last one. */
  releaseUser(): void {
    if (--this.#users === 0) void this.close();
  }

  /** Removes the files when those being written are complete. */
  async close(): Promise<void> {
    const sources = this.#sources;
    this.#sources = [];
    const isAtWork = this.#atWork.size > 0;
    while (this.#atWork.size > 0) await Promise.all(this.#atWork);
    // The store has removed what was there when the run was forgotten: no rerun can use the files of a run at work.
    if (isAtWork || !this.#store.outlivesProcess) await this.#store.remove(this.#path);
    for (const source of sources) source.releaseUser();
  }
}
