import { basename, dirname } from 'node:path';
import { PastFacts } from '../../execution/history/past-facts.js';
import type { PublishedFile } from '../../execution/invocation/artifact-store.js';
import type { AnyRun, LocalExecutor } from '../../execution/local-executor.js';
import type { PlanRerunSource, RerunSource } from '../../execution/prepare/rerun-source.js';
import type { PlanInputs, RunInputs } from '../../execution/run-inputs.js';

/** Of a rerun. */
type Requested =
  | { readonly kind: 'pipeline'; readonly inputs: RunInputs }
  | { readonly kind: 'plan'; readonly inputs: PlanInputs };

/** They note nothing. */
const NO_LOG = { append: (): void => {}, committed: (): Promise<void> => Promise.resolve() };

/**
 * While the runs of a store are created again: runs that never begin, in place of those that are no longer kept and of
 * which reruns have files. So the files are removed with the last run that has them (D63).
 */
export class StandIns {
  readonly #executor: LocalExecutor;
  readonly #created = new Map<string, AnyRun>();
  /** Runs that are kept, although they cannot go on: their files stay. */
  readonly #kept = new Set<string>();

  constructor(executor: LocalExecutor) {
    this.#executor = executor;
  }

  /**
   * Call before a rerun is created.
   *
   * @param runId of the run that it repeats
   * @param files of that run, some of which are in the folders of runs that this one has repeated
   */
  create(runId: string, files: readonly PublishedFile[], rerun: Requested): void {
    if (files.length === 0 || this.#executor.hasArtifacts(runId)) return;
    const folders = new Set(files.map(({ path }) => basename(dirname(path))));
    folders.delete(runId);
    let earlier: string | undefined;
    for (const id of folders) {
      if (!this.#executor.hasArtifacts(id)) this.#create(id, filesIn(id, files), rerun, earlier);
      earlier = id;
    }
    this.#create(runId, files, rerun, earlier);
  }

  /** Call for a run that is kept, although it cannot go on. */
  keep(runId: string): void {
    this.#kept.add(runId);
  }

  /** Call when all runs are created: the files of each live as long as the reruns that have them. */
  forget(): void {
    for (const [id, { budget }] of this.#created) {
      if (this.#kept.has(id)) continue;
      this.#executor.forget(id);
      budget.close();
    }
  }

  #create(id: string, files: readonly PublishedFile[], rerun: Requested, earlier: string | undefined): void {
    const at = 0;
    const facts = PastFacts.of([
      { kind: 'files', at, files },
      { kind: 'settled', at },
    ]);
    const kept = { log: NO_LOG, past: { id, createdAt: at, isRestored: true, facts } };
    const source = earlier === undefined ? undefined : sourceWithFiles(earlier);
    const planSource = source && planSourceWithFiles(source);
    const run =
      rerun.kind === 'plan'
        ? this.#executor.createPlanRun(rerun.inputs, planSource, undefined, kept)
        : this.#executor.createRun(rerun.inputs, source, undefined, kept);
    this.#created.set(id, run);
  }
}

function filesIn(folder: string, files: readonly PublishedFile[]): PublishedFile[] {
  return files.filter(({ path }) => basename(dirname(path)) === folder);
}

/** Of a run whose files may be reused: they are, where there are outcomes. */
function sourceWithFiles(runId: string): RerunSource {
  return {
    runId,
    given: undefined,
    givenBytes: 0,
    forced: new Map(),
    failed: new Set(),
    outcomes: new Map(),
    items: new Map([['', { outputs: [], writes: undefined, sizeBytes: 0 }]]),
    changedKeys: new Set(),
  };
}

function planSourceWithFiles(source: RerunSource): PlanRerunSource {
  return { runId: source.runId, subRuns: new Map([['', source]]) };
}
