import { TaskFailedError, WavetrainError } from '../errors.js';
import type { Json } from '../json.js';
import type { TaskEvent } from './event.js';
import type { PlanRun } from './plan-run.js';
import { outcomeOf, type RunResult } from './result.js';

/** What a plan that succeeded produced (D47). */
export interface PlanOutcome {
  readonly plan_id: string;
  /** Sub-pipeline id to result, in declared order. */
  readonly sub_results: Record<string, RunResult>;
  /** All that stands on the blackboard of the tenant at the end (Plan, rule 4). */
  readonly blackboard: Record<string, Json>;
  /** Tool invocations, each item counted (D20). */
  readonly total_tasks_executed: number;
  /** Waves that settled, of all sub-pipelines together. */
  readonly total_waves: number;
}

/** The result of a plan run that was waited for. */
export interface PlanResult extends PlanOutcome {
  readonly events: readonly TaskEvent[] | null;
}

/** What a plan that succeeded has produced. */
export function planOutcomeOf(run: PlanRun): PlanOutcome {
  const { waves_executed, invocations } = run.progress;
  const events = eventsBySubPipeline(run.journal.events);
  const { begun, blackboard } = run.subRuns;
  const results = [...run.prepared.subRuns.keys()].flatMap((id): [string, RunResult][] => {
    const subRun = begun.get(id);
    return subRun === undefined
      ? []
      : [[id, { ...outcomeOf(subRun), events: events && (events.get(id) ?? []) }]];
  });
  return {
    plan_id: run.definitionId,
    sub_results: Object.fromEntries(results),
    blackboard,
    total_tasks_executed: invocations,
    total_waves: waves_executed,
  };
}

function eventsBySubPipeline(events: readonly TaskEvent[] | null): Map<string, TaskEvent[]> | null {
  if (events === null) return null;
  const found = new Map<string, TaskEvent[]>();
  for (const event of events) {
    const id = event.sub_pipeline ?? '';
    const known = found.get(id);
    if (known === undefined) found.set(id, [event]);
    else known.push(event);
  }
  return found;
}

/**
 * The result of a settled plan run that succeeded (D47).
 *
 * @throws TaskFailedError `task_failed` that names sub-pipeline and task
 * @throws WavetrainError `run_cancelled`, or `run_not_found` when it was forgotten while it was waited for
 */
export function planResultOf(run: PlanRun): PlanResult {
  const { id, status, result, error, failures } = run;
  if (result !== null) return { ...result, events: run.journal.events };
  switch (status) {
    case 'cancelled':
      throw new WavetrainError('run_cancelled', `run ${id} was cancelled`);
    case 'failed':
      throw new TaskFailedError(id, failures, error ?? 'failed');
    default:
      throw new WavetrainError('run_not_found', `run ${id} was forgotten before it was over`);
  }
}
