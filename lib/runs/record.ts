import type { RunStatus } from '../../machines/vocabulary.js';
import type { TaskFailure } from '../errors.js';
import type { TaskEvent } from '../execution/event.js';
import type { LocalRun } from '../execution/local-run.js';
import { outcomeOf, type RunOutcome } from '../execution/result.js';

/** The public JSON of a run (Run record, D28). A projection of its actor, never changed by hand. */
export interface RunRecord {
  readonly run_id: string;
  readonly kind: 'pipeline' | 'plan';
  readonly status: RunStatus;
  readonly pipeline_id: string;
  readonly tenant_id: string;
  /** The goal with params applied. */
  readonly goal: string;
  /** Nothing of the run is at work any more. */
  readonly settled: boolean;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly progress: {
    readonly waves: number;
    readonly waves_executed: number;
    readonly tasks: number;
    readonly tasks_settled: number;
    readonly invocations: number;
  };
  /** Set only when succeeded. */
  readonly result: RunOutcome | null;
  /** The message of the first failure in time; set only when failed. */
  readonly error: string | null;
  readonly failures: readonly TaskFailure[];
  readonly events: readonly TaskEvent[] | null;
  /** The run that this one repeats; null for a first one (D35). */
  readonly rerun_of: string | null;
}

/** A record without what may be large: one line of a list. */
export type RunSummary = Omit<RunRecord, 'result' | 'failures' | 'events'>;

/** What a caller is told who has just submitted a run. */
export interface Acceptance {
  readonly run_id: string;
  readonly status: RunStatus;
}

/** The record of a run as it is now: made anew at each look (law L3). */
export function recordOf(run: LocalRun): RunRecord {
  // Spreading the summary into a new object takes four times as long.
  return Object.assign(summaryOf(run), {
    result: run.status === 'succeeded' ? outcomeOf(run) : null,
    failures: [...run.work.failures],
    events: run.journal.events === null ? null : [...run.journal.events],
  });
}

export function summaryOf(run: LocalRun): RunSummary {
  const { prepared, work, status } = run;
  const { pipeline } = prepared;
  return {
    run_id: prepared.id,
    kind: 'pipeline',
    status,
    pipeline_id: pipeline.definition.id,
    tenant_id: prepared.tenantId,
    goal: prepared.goal,
    settled: run.isSettled,
    created_at: timeOf(run.createdAt),
    started_at: run.startedAt === null ? null : timeOf(run.startedAt),
    finished_at: run.finishedAt === null ? null : timeOf(run.finishedAt),
    progress: {
      waves: pipeline.waves.length,
      waves_executed: run.wavesExecuted,
      tasks: pipeline.tasks.size,
      tasks_settled: work.tasksSettled,
      invocations: run.invocations,
    },
    error: run.error,
    rerun_of: prepared.origin?.runId ?? null,
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
