import type { FileHandle } from 'node:fs/promises';
import type { ReadableRun } from '../../execution/run/readable-run.js';
import type { LocalExecutor } from '../../execution/local-executor.js';
import type { RunArtifact } from '../../execution/results.js';
import type { ArtifactPageSchema } from '../../common/wire/run.js';
import type { Shape } from '../../common/wire/shape.js';

/** Pages the files of a run. */
export interface ArtifactQuery {
  /** Largest number of files on the page. Default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ArtifactPage extends Shape<typeof ArtifactPageSchema> {}

const DEFAULT_LIMIT = 50;

/** The files of one run (D63). */
export class RunFiles {
  readonly #run: ReadableRun;
  readonly #executor: LocalExecutor;

  constructor(run: ReadableRun, executor: LocalExecutor) {
    this.#run = run;
    this.#executor = executor;
  }

  /** One page of the files. It continues where the previous page ended, even if files were added. */
  page({ limit = DEFAULT_LIMIT, cursor }: ArtifactQuery): ArtifactPage {
    const { artifacts } = this.#run;
    const next = cursor === undefined ? 0 : artifacts.findIndex(({ name }) => name > cursor);
    const start = next === -1 ? artifacts.length : next;
    const page = artifacts.slice(start, start + limit);
    const isLast = start + page.length >= artifacts.length;
    const nextCursor = isLast ? null : (page.at(-1)?.name ?? null);
    return { artifacts: page, total: artifacts.length, next_cursor: nextCursor };
  }

  /** Where a file is; undefined when the run has none of this name. */
  find(name: string): { readonly artifact: RunArtifact; readonly path: string } | undefined {
    return this.#executor.findArtifact(this.#run.id, name);
  }

  /** Opens a file that `find` has found. Rejects when it is gone, or something else is in its place. */
  open(found: { readonly path: string }): Promise<FileHandle> {
    return this.#executor.openArtifact(found);
  }
}
