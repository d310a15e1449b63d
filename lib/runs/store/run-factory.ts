import type { Clock } from '../../common/clock.js';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import { warnHost } from '../../common/warnings.js';
import { type AnyRun, type LocalExecutor, runNotFound } from '../../execution/local-executor.js';
import { PastFacts } from '../../execution/history/past-facts.js';
import { MAX_CRASHES_IN_VAIN } from '../../execution/history/run-history.js';
import { createRunId } from '../../execution/prepare/prepare-run.js';
import type { IdempotencyKey } from '../idempotency.js';
import { collectAgain, type Rerun } from '../rerun/rerun.js';
import {
  createRequestedRun,
  type ReviveDefinitions,
  type RequestedRun,
  toRequestedRun,
  toSubmission,
} from './submission.js';
import type { PastRun, RunStore, StoredSubmission } from './run-store.js';

/** A run and its number: they count from 1, in the order in which they were accepted. */
export interface CreatedRun {
  readonly run: AnyRun;
  readonly number: number;
}

/** A run that another process has accepted. */
interface RestoredRun extends CreatedRun {
  readonly idempotency: IdempotencyKey | undefined;
}

/** Creates runs: new ones, which are added to the store if there is one, and those that the store has (D68). */
export class RunFactory {
  readonly #executor: LocalExecutor;
  readonly #clock: Clock;
  readonly #store: RunStore | undefined;
  #created = 0;

  constructor(executor: LocalExecutor, clock: Clock, store: RunStore | undefined) {
    this.#executor = executor;
    this.#clock = clock;
    this.#store = store;
  }

  /** Creates a run that is accepted now. Throws as `LocalExecutor.createRun`. */
  create(requested: RequestedRun, tenantId: string, idempotency: IdempotencyKey | undefined): CreatedRun {
    const store = this.#store;
    if (store === undefined) {
      return { run: createRequestedRun(this.#executor, requested), number: ++this.#created };
    }
    const createdAt = this.#clock.now();
    const id = createRunId(createdAt);
    const past = { id, createdAt, isRestored: false, facts: PastFacts.of([]) };
    const run = createRequestedRun(this.#executor, requested, { log: store.log(id, tenantId), past });
    const number = store.lastNumber + 1;
    const submission = toSubmission(requested, tenantId, idempotency);
    store.add({ id, number, createdAt, submission }, run.prepared.sizeBytes);
    return { run, number };
  }

  /**
   * Creates the runs of the store again, in the order in which they were accepted. Those that had settled must be rebuilt
   * before the next one is asked for, which may be a rerun of them. Warns of each that this version of Wavetrain, its tools or its settings do not accept any more: it stays in the store.
   */
  async *restore(store: RunStore, revive: ReviveDefinitions): AsyncIterable<RestoredRun> {
    const restored = new Map<string, AnyRun>();
    const removed: AnyRun[] = [];
    for await (const stored of store.runs()) {
      const { id, number, isRemoved, submission } = stored;
      try {
        const run = await this.#createAgain(store, stored, revive, restored);
        restored.set(id, run);
        if (!isRemoved) yield { run, number, idempotency: submission.idempotency };
        else {
          await run.rebuild();
          removed.push(run);
        }
      } catch (error) {
        warnHost(`run ${id} cannot go on: ${errorMessage(error)}`);
      }
    }
    // What reruns have of them, they keep.
    for (const { id, budget } of removed) {
      this.#executor.forget(id);
      budget.close();
    }
  }

  async #createAgain(
    store: RunStore,
    { id, createdAt, submission }: PastRun,
    revive: ReviveDefinitions,
    restored: ReadonlyMap<string, AnyRun>,
  ): Promise<AnyRun> {
    const { rerun, tenant_id: tenantId } = submission;
    const [requested, read] = await Promise.all([toRequestedRun(submission, revive), store.facts(id)]);
    const facts = await this.#executor.stepRunner.run(PastFacts.readInSteps(read), tenantId);
    if (facts.crashesInVain >= 2 * MAX_CRASHES_IN_VAIN) {
      throw new WavetrainError(
        'internal',
        `the process ended ${facts.crashesInVain} times when it was rebuilt`,
      );
    }
    const earlier = rerun && restored.get(rerun.run_id);
    if (rerun !== undefined && earlier === undefined) throw runNotFound(rerun.run_id);
    const reused = rerun && earlier && (await this.#collectAgain(earlier, rerun, requested));
    const kept = { log: store.log(id, tenantId), past: { id, createdAt, isRestored: true, facts } };
    return createRequestedRun(this.#executor, { ...requested, ...reused } as RequestedRun, kept);
  }

  /** What a rerun can reuse of the run that it repeats. */
  async #collectAgain(
    earlier: AnyRun,
    { run_id: _, ...asked }: NonNullable<StoredSubmission['rerun']>,
    { inputs }: RequestedRun,
  ): Promise<Pick<Rerun, 'source' | 'asked'>> {
    const steps = collectAgain(earlier, asked, inputs);
    return { source: await this.#executor.stepRunner.run(steps, earlier.tenantId), asked };
  }
}
