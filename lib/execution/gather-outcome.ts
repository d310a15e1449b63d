import type { TaskEvent } from './event.js';
import type { PlanOutcome } from './plan-outcome.js';
import type { PreparedPlan } from './prepared-plan.js';
import { outcomeOf, type RunResult } from './run-outcome.js';
import type { RunProgress } from './run-progress.js';
import type { SubRuns } from './sub-runs.js';

/** What a plan that succeeded has produced (D47). */
export function gatherOutcome(
  { plan, subRuns: prepared }: PreparedPlan,
  { begun, blackboard }: SubRuns,
  { waves_executed, invocations }: RunProgress,
  events: readonly TaskEvent[] | null,
): PlanOutcome {
  const found = events && eventsBySubPipeline(events);
  const results = [...prepared.keys()].flatMap((id): [string, RunResult][] => {
    const run = begun.get(id);
    return run === undefined ? [] : [[id, { ...outcomeOf(run), events: found && (found.get(id) ?? []) }]];
  });
  return {
    plan_id: plan.definition.id,
    sub_results: Object.fromEntries(results),
    blackboard,
    total_tasks_executed: invocations,
    total_waves: waves_executed,
  };
}

function eventsBySubPipeline(events: readonly TaskEvent[]): Map<string, TaskEvent[]> {
  const found = new Map<string, TaskEvent[]>();
  for (const event of events) {
    const { sub_pipeline: id = '' } = event;
    const known = found.get(id);
    if (known === undefined) found.set(id, [event]);
    else known.push(event);
  }
  return found;
}
