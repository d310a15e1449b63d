import { basename, dirname } from 'node:path';
import type { PublishedFile } from '../../execution/invocation/files/published-file.js';
import type { LocalExecutor } from '../../execution/local-executor.js';

/**
 * While the runs of a store are created again: lists the files of runs that are not there (yet), for their reruns. So the
 * files are removed with the last run that has them (D63).
 */
export class MissingRunFiles {
  readonly #executor: LocalExecutor;
  readonly #missing = new Set<string>();
  /** The runs that are there, or that are kept although they cannot go on. */
  readonly #kept = new Set<string>();

  constructor(executor: LocalExecutor) {
    this.#executor = executor;
  }

  /**
   * Call before a rerun is created.
   *
   * @param runId of the run that it repeats
   * @param files of that run, as they were kept; some are in the folders of runs that this one has repeated
   */
  create(runId: string, files: readonly PublishedFile[]): void {
    if (files.length === 0 || this.#executor.hasArtifacts(runId)) return;
    const folders = new Set(files.map(({ path }) => basename(dirname(path))));
    folders.delete(runId);
    let earlier: string | undefined;
    for (const id of folders) {
      if (!this.#executor.hasArtifacts(id)) this.#create(id, filesIn(id, files), earlier);
      earlier = id;
    }
    this.#create(runId, files, earlier);
  }

  /** Call for a run that is there, or is kept although it cannot go on: its files stay without its reruns. */
  keep(runId: string): void {
    this.#kept.add(runId);
    this.#missing.delete(runId);
  }

  /** Call when all runs are created: the files of each missing run live as long as the reruns that have them. */
  forget(): void {
    // A run that was missing may have been read meanwhile.
    for (const id of this.#missing) if (!this.#executor.hasRun(id)) this.#executor.forget(id);
  }

  #create(id: string, files: readonly PublishedFile[], earlier: string | undefined): void {
    this.#executor.restoreFiles(id, files, earlier);
    if (!this.#kept.has(id)) this.#missing.add(id);
  }
}

function filesIn(folder: string, files: readonly PublishedFile[]): PublishedFile[] {
  return files.filter(({ path }) => basename(dirname(path)) === folder);
}
