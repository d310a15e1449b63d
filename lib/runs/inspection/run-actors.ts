import type { Clock } from '../../common/clock.js';
import { runNotFound } from '../../execution/local-executor.js';
import { LiveRunEntry } from '../run-entry.js';
import type { ArchivedRuns } from '../store/archived-runs.js';
import type { ReplayedRun } from '../store/restore/settled-run-loader.js';
import type { RunIndex } from '../views/run-index.js';
import { StatelyFeed, type StatelyMessage } from './stately-feed.js';

interface ActorParts {
  readonly runs: RunIndex;
  /** Undefined without a store that has an archive. */
  readonly archived: ArchivedRuns | undefined;
  readonly clock: Clock;
}

const NO_OP = (): void => {};

/**
 * The only views that need the actor of a run. That of a settled run which was read from the store is made again, for as long
 * as somebody looks at it (D74).
 */
export class RunActors {
  readonly #parts: ActorParts;

  constructor(parts: ActorParts) {
    this.#parts = parts;
  }

  /** The actor tree of a run, as JSON. Rejects with `run_not_found`, and `memory_full` for a settled run. @param signal of a caller who may go before */
  async snapshot(runId: string, signal?: AbortSignal): Promise<unknown> {
    const { run, close } = await this.#find(runId, signal);
    try {
      return run.actor.getPersistedSnapshot();
    } finally {
      close();
    }
  }

  /** Informs the Stately inspector about a run, until the feed is closed. Rejects as `snapshot`. */
  async statelyFeed(runId: string, send: (message: StatelyMessage) => void): Promise<StatelyFeed> {
    const { run, close } = await this.#find(runId);
    return new StatelyFeed(run, this.#parts.clock, send, close);
  }

  async #find(runId: string, signal?: AbortSignal): Promise<ReplayedRun> {
    const { runs, archived } = this.#parts;
    const entry = runs.find(runId);
    if (entry instanceof LiveRunEntry) return { run: entry.run, close: NO_OP };
    const replayed = await archived?.replay(runId, entry.run.tenantId, signal);
    if (replayed === undefined) throw runNotFound(runId);
    return replayed;
  }
}
