import type { JsonObject } from '../../common/json.js';
import type { ExecutionOptions, PlanInputs, RunInputs } from '../../execution/run-inputs.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { Plan } from '../../plans/plan.js';
import type { RunRecord } from '../../runs/record.js';
import type { SubmissionOptions } from '../../runs/registry-options.js';
import type { RegistryApi } from '../context.js';
import type { LoadedDefinition } from '../input/load-definition.js';
import { PipelineRunView, type RunView } from '../progress/run-view.js';
import { pipelineFailureLines, planFailureLines } from '../render/run-summary.js';
import type { Style, Terminal } from '../render/terminal.js';
import type { RunFlags } from './run-flags.js';

/** A run of a pipeline or a plan, ready to be submitted, and how the terminal displays it. */
export interface DisplayedRun {
  /** Resolves with the run id. */
  readonly submit: (registry: RegistryApi, options: SubmissionOptions) => Promise<string>;
  /** Several sub-pipelines, and so several waves, may run at once (D45). */
  readonly hasParallelWaves: boolean;
  /** The files of the definition, which `--events` must not overwrite. */
  readonly definitionFiles: readonly string[];
  readonly createView: () => RunView;
  /** Describes a run that failed or was cancelled. */
  readonly formatFailures: (record: RunRecord, style: Style, terminal: Terminal) => string[];
}

/** Creates the run of a checked pipeline. */
export function createPipelineRun(
  pipeline: Pipeline,
  loaded: LoadedDefinition,
  flags: RunFlags,
  options: ExecutionOptions,
  params: JsonObject,
): DisplayedRun {
  const inputs: RunInputs = { pipeline, params, ...commonInputs(loaded, flags, options) };
  return {
    submit: (registry, submission) => registry.submit(inputs, submission),
    hasParallelWaves: false,
    definitionFiles: [flags.file],
    createView: () => new PipelineRunView(pipeline.waves),
    formatFailures: (record, style, terminal) => pipelineFailureLines(record, pipeline, style, terminal),
  };
}

/** Creates the run of a checked plan (D42, D47). */
export async function createPlanRun(
  plan: Plan,
  loaded: LoadedDefinition,
  flags: RunFlags,
  options: ExecutionOptions,
  planConcurrency: number | undefined,
): Promise<DisplayedRun> {
  const { PlanRunView } = await import('../progress/plan-view.js');
  const inputs: PlanInputs = {
    plan,
    ...commonInputs(loaded, flags, options),
    ...(planConcurrency !== undefined && { plan_concurrency: planConcurrency }),
  };
  const concurrency = planConcurrency ?? plan.definition.plan_concurrency ?? 1;
  const waves = [...plan.subPipelines].map(([id, { pipeline }]) => [id, pipeline.waves] as const);
  return {
    submit: (registry, submission) => registry.submitPlan(inputs, submission),
    hasParallelWaves: plan.subPipelines.size > 1 && concurrency > 1,
    definitionFiles: [flags.file, ...[...loaded.files.values()].map(({ name }) => name)],
    createView: () => new PlanRunView(plan.subPipelines.size, new Map(waves)),
    formatFailures: planFailureLines,
  };
}

/** The inputs that pipelines and plans share. Absent flags leave their field out, so that defaults apply. */
function commonInputs(
  { inputs, session }: LoadedDefinition,
  { tenant }: RunFlags,
  options: ExecutionOptions,
): Omit<RunInputs, 'pipeline'> {
  return {
    options,
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(tenant !== undefined && { tenant_id: tenant }),
  };
}
