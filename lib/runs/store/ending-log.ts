import type { Fact } from '../../execution/history/fact.js';
import type { FactLog } from '../../execution/history/run-history.js';
import type { AnyRun } from '../../execution/local-executor.js';
import { toIsoTime } from '../../common/clock.js';
import { toRunSummary } from '../record.js';
import type { RunArchive, RunEnd } from './run-archive.js';

/**
 * The facts of a run; with the last of them, its end is kept for lists (D74). Both are in one commit, so that no crash leaves
 * a settled run that no list has.
 */
export class EndingLog implements FactLog {
  /** Set before the run begins: the run needs the log to be created. */
  run: AnyRun | undefined;
  readonly #log: FactLog;
  readonly #archive: RunArchive | undefined;

  /** @param archive undefined for a store whose settled runs are read into memory when it is opened */
  constructor(log: FactLog, archive: RunArchive | undefined) {
    this.#log = log;
    this.#archive = archive;
  }

  append(fact: Fact): void {
    this.#log.append(fact);
    if (fact.kind === 'settled' && this.run !== undefined) this.#archive?.end(toRunEnd(this.run, fact.at));
  }

  committed(): Promise<void> {
    return this.#log.committed();
  }
}

/** @param settledAt milliseconds since 1970 */
export function toRunEnd(run: AnyRun, settledAt: number | null = run.finishedAt): RunEnd {
  const summary = toRunSummary(run);
  return {
    summary: settledAt === null ? summary : { ...summary, finished_at: toIsoTime(settledAt) },
    cost: run.journal.cost,
    artifactCount: run.artifacts.length,
    artifactBytes: run.artifacts.reduce((sum, { size }) => sum + size, 0),
    keep: run.keep,
  };
}
