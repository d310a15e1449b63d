import { WavetrainError } from '../errors.js';
import type { Origin, PlanOrigin } from '../execution/origin.js';
import type { PlanInputs } from '../execution/plan-inputs.js';
import type { PlanRun } from '../execution/plan-run.js';
import type { Plan } from '../plans/plan.js';
import { FROM_FAILED, mustBeSettled, nothingToRerun, reusable } from './rerun.js';

/** What a rerun takes over of a settled run of a plan (D35). */
export interface PlanRerun {
  readonly run: PlanInputs;
  readonly origin: PlanOrigin;
}

/**
 * The same plan once more, with what it was given then.
 *
 * @param from undefined runs every sub-pipeline again; `failed` only tasks that have not succeeded; the id of a
 * sub-pipeline that one, those that read from it, and what has not succeeded
 * @throws WavetrainError `run_not_settled`, `nothing_to_rerun` or `invalid_request`
 */
export function planRerunOf(run: PlanRun, from: string | undefined): PlanRerun {
  const { id, prepared } = run;
  mustBeSettled(run);
  const { plan, inputs, session, given, concurrency, collectEvents, tenantId } = prepared;
  return {
    run: {
      plan,
      inputs,
      session,
      options: given,
      plan_concurrency: concurrency,
      collect_events: collectEvents,
      tenant_id: tenantId,
    },
    origin: { runId: id, subRuns: originsOf(run, again(run, from)) },
  };
}

/** The sub-pipelines that run again whatever they produced. */
function again({ id, status, prepared: { plan } }: PlanRun, from: string | undefined): ReadonlySet<string> {
  if (from === undefined) return new Set(plan.subPipelines.keys());
  if (from === FROM_FAILED) {
    if (status === 'succeeded') throw nothingToRerun(id, 'a sub-pipeline');
    return new Set();
  }
  if (plan.subPipelines.has(from)) return withReaders(from, plan);
  const known = [...plan.subPipelines.keys()].slice(0, 20).join(', ');
  throw new WavetrainError(
    'invalid_request',
    `the plan has no sub-pipeline "${from}"; its sub-pipelines are ${known}`,
  );
}

function withReaders(id: string, { statistics, subPipelines }: Plan): Set<string> {
  const found = new Set([id]);
  for (const other of statistics.order) {
    if (subPipelines.get(other)?.needs.some((need) => found.has(need))) found.add(other);
  }
  return found;
}

function originsOf({ id, prepared, subRuns }: PlanRun, again: ReadonlySet<string>): Map<string, Origin> {
  const origins = new Map<string, Origin>();
  for (const [subPipelineId, subRun] of prepared.subRuns) {
    if (again.has(subPipelineId)) continue;
    const work = subRuns.begun.get(subPipelineId)?.work;
    origins.set(subPipelineId, { runId: id, outcomes: reusable(subRun, work, new Set()) });
  }
  return origins;
}
