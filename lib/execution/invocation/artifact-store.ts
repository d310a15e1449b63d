import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { warnHost } from '../../common/warnings.js';
import type { Artifact } from '../json-output.js';
import type { MemoryBudget } from '../memory-budget.js';

/**
 * The files for bytes that tools return (D24), in a folder that belongs to one executor and that only its user may read.
 * Each run has a folder in it, which lives as long as the run is known. Folders are created when first needed: most runs
 * need none.
 */
export class ArtifactStore {
  readonly #path: string;
  readonly #isKept: boolean;
  readonly #folders = new Map<string, ArtifactFolder>();
  #hasWarned = false;

  /**
   * @param path of a folder that does not exist, with a name that nobody can foresee
   * @param isKept keeps the files when their runs are forgotten, and when the store closes
   */
  constructor(path: string, isKept: boolean) {
    this.#path = path;
    this.#isKept = isKept;
  }

  /** The files of a run. @param budget of the submitted run, which files take memory from, as other outputs do */
  open(runId: string, budget: MemoryBudget): ArtifactFolder {
    let folder = this.#folders.get(runId);
    if (folder === undefined) {
      folder = new ArtifactFolder(join(this.#path, runId), this, budget);
      this.#folders.set(runId, folder);
    }
    return folder;
  }

  /** Bytes in the files of a run, with those that it reuses. */
  bytesOf(runId: string): number {
    return this.#folders.get(runId)?.bytes ?? 0;
  }

  /** Keeps the files of an earlier run for as long as a rerun that reuses its outputs (D35). */
  reuse(sourceRunId: string, runId: string, budget: MemoryBudget): void {
    const source = this.#folders.get(sourceRunId);
    if (source !== undefined) this.open(runId, budget).reuse(source);
  }

  /** Removes the files of a run that is forgotten, unless a rerun uses them. */
  forget(runId: string): void {
    const folder = this.#folders.get(runId);
    this.#folders.delete(runId);
    if (!this.#isKept) folder?.release();
  }

  /** Removes all files, unless they are kept. Resolves when they are gone; never rejects. */
  async close(): Promise<void> {
    if (this.#isKept) return;
    const folders = [...this.#folders.values()];
    this.#folders.clear();
    await Promise.all(folders.map((folder) => folder.close()));
    if (folders.length > 0) await this.remove(this.#path);
  }

  /**
   * Creates the folder of the store and a folder in it, unless they exist. Rejects when something else is in the place
   * of the first: its name is known since the first file, and a cleaner of temporary files may have removed it.
   */
  async create(folder: string): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    await makeOwnFolder(this.#path);
    await makeOwnFolder(folder);
  }

  /** Never rejects: nobody waits for it. Warns of the first failure. */
  async remove(path: string): Promise<void> {
    try {
      await rm(path, { recursive: true, force: true });
    } catch (error) {
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      warnHost(`files of a run could not be removed: ${errorMessage(error)}`);
    }
  }
}

/** The files of one run, with those of its nested runs and sub-pipelines. */
export class ArtifactFolder {
  readonly #path: string;
  readonly #store: ArtifactStore;
  readonly #budget: MemoryBudget;
  readonly #writes = new Set<Promise<unknown>>();
  #sources: ArtifactFolder[] = [];
  #users = 1;
  #count = 0;
  #bytes = 0;

  constructor(path: string, store: ArtifactStore, budget: MemoryBudget) {
    this.#path = path;
    this.#store = store;
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns a path that is unique within the run. */
  nextPath(taskId: string): string {
    return join(this.#path, `${taskId}-${++this.#count}.bin`);
  }

  /** Keeps the files of another run for as long as these. Their memory was taken with the rest of the reused outputs. */
  reuse(source: ArtifactFolder): void {
    source.#users++;
    this.#sources.push(source);
    this.#bytes += source.#bytes;
  }

  /**
   * Writes the files of one output: all of them or, when it rejects, none.
   * Rejects with a non-retryable ToolError when the run has no memory left for them.
   */
  write(artifacts: readonly Artifact[]): Promise<void> {
    const writing = this.#write(artifacts);
    const settled = writing.catch(() => undefined).finally(() => this.#writes.delete(settled));
    this.#writes.add(settled);
    return writing;
  }

  async #write(artifacts: readonly Artifact[]): Promise<void> {
    const bytes = measure(artifacts);
    this.#budget.reserve(bytes);
    this.#bytes += bytes;
    try {
      await this.#store.create(this.#path);
      // `wx` creates the file, and thus never follows a link.
      for (const { path, bytes: content } of artifacts)
        await writeFile(path, content, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      await this.discard(artifacts);
      throw error;
    }
  }

  /** Removes the files of an output that nobody receives. */
  async discard(artifacts: readonly Artifact[]): Promise<void> {
    const bytes = measure(artifacts);
    this.#budget.release(bytes);
    this.#bytes -= bytes;
    for (const { path } of artifacts) await this.#store.remove(path);
  }

  /** Removes the files when no rerun uses them. */
  release(): void {
    if (--this.#users === 0) void this.close();
  }

  /** Removes the files when those being written are complete. */
  async close(): Promise<void> {
    const sources = this.#sources;
    this.#sources = [];
    await Promise.all(this.#writes);
    await this.#store.remove(this.#path);
    for (const source of sources) source.release();
  }
}

function measure(artifacts: readonly Artifact[]): number {
  return artifacts.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
}

/** Creates a folder that only its owner may read. Rejects when something else is there, such as a link. */
async function makeOwnFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    // Undefined on Windows, where folders for temporary files belong to their users.
    const uid = process.geteuid?.();
    const found = await lstat(path);
    const isOwn = uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0);
    if (!found.isDirectory() || !isOwn) throw new ToolError(`${path} is not a folder of this process`);
  }
}
