import type { RunStatus } from '../../../machines/types.js';
import { LinkedMap } from '../../common/queues/linked-map.js';
import type { RunEntry } from '../run-entry.js';
import { countStatuses, paginate, type RunPage, type RunQuery } from './run-listing.js';

/** The runs of a registry: found by id, and listed in the order of their submission. */
export class RunIndex {
  readonly #entries = new LinkedMap<string, RunEntry>();

  get size(): number {
    return this.#entries.size;
  }

  get(runId: string): RunEntry | undefined {
    return this.#entries.get(runId);
  }

  has(runId: string): boolean {
    return this.#entries.has(runId);
  }

  add(entry: RunEntry): void {
    this.#entries.add(entry.run.id, entry);
  }

  delete({ run }: RunEntry): void {
    this.#entries.delete(run.id);
  }

  /** Puts runs that were restored in another order into that of their submission. */
  sort(): void {
    this.#entries.sort((a, b) => a.sequence - b.sequence);
  }

  /** One page, newest first. Throws `invalid_request` for a malformed cursor. */
  page(query: RunQuery): RunPage {
    return paginate(this.#entries.backwards(), query);
  }

  countByStatus(): ReadonlyMap<RunStatus, number> {
    return countStatuses(this.#entries);
  }
}
