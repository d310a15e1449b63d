import type { ExecutionOptions, PlanInputs } from '../../execution/run-inputs.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import type { PlanPreparation } from '../input/loaded-definition.js';
import { PlanPicture } from '../progress/plan-view.js';
import { planFailureLines } from '../render/run-summary.js';
import { perform, type ShownRun } from './execute.js';
import type { RunFlags } from './options.js';

interface PlanOptions {
  readonly options: ExecutionOptions;
  readonly planConcurrency: number | undefined;
}

/** Runs a plan that was checked (D42, D47). */
export async function runPlan(
  { check, inputs, session, fileRoots, files }: PlanPreparation,
  { options, planConcurrency }: PlanOptions,
  flags: RunFlags,
  context: CliContext,
): Promise<ExitStatus> {
  if (!check.ok || check.plan === undefined) return EXIT.invalid;
  const { plan } = check;
  const atOnce = planConcurrency ?? plan.definition.plan_concurrency ?? 1;
  const planInputs: PlanInputs = {
    plan,
    options,
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(flags.tenant !== undefined && { tenant_id: flags.tenant }),
    ...(planConcurrency !== undefined && { plan_concurrency: planConcurrency }),
  };
  const shown = {
    definitionFiles: [flags.file, ...[...files.values()].map(({ name }) => name)],
    submit: (registry, submission) => registry.submitPlan(planInputs, submission),
    hasSeveralWaves: plan.subPipelines.size > 1 && atOnce > 1,
    picture: () => {
      const waves = [...plan.subPipelines].map(([id, { pipeline }]) => [id, pipeline.waves] as const);
      return new PlanPicture(plan.subPipelines.size, new Map(waves));
    },
    failures: planFailureLines,
  } satisfies ShownRun;
  return perform(shown, flags, fileRoots, context);
}
