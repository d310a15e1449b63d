import type { Origin, PlanOrigin } from '../execution/prepare/prepared-run.js';
import type { PlanInputs } from '../execution/run-inputs.js';
import type { PlanRun } from '../execution/plan/plan-run.js';
import { mustBeSettled, reusable } from './rerun.js';
import { whichAgain } from './which-again.js';

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
    origin: { runId: id, subRuns: originsOf(run, subPipelinesToRerun(run, from)) },
  };
}

/** The sub-pipelines that run again whatever they produced. */
function subPipelinesToRerun(run: PlanRun, from: string | undefined): ReadonlySet<string> {
  const { subPipelines, statistics } = run.prepared.plan;
  return whichAgain(run, from, {
    whole: 'plan',
    part: 'sub-pipeline',
    ids: [...subPipelines.keys()],
    order: statistics.order,
    needs: (id) => subPipelines.get(id)?.needs ?? [],
  });
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
