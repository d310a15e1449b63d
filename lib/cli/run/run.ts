import type { JsonObject } from '../../common/json.js';
import type { ExecutionOptions, RunInputs } from '../../execution/run-inputs.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readJsonObject } from '../input/flags.js';
import { prepare } from '../input/load-definition.js';
import type { PipelinePreparation } from '../input/loaded-definition.js';
import { tellProblems } from '../input/problems.js';
import { PROGRAM } from '../package-info.js';
import { RunPicture } from '../progress/run-view.js';
import { failureLines } from '../render/run-summary.js';
import { BadUsage } from '../usage-errors.js';
import { perform, type ShownRun } from './execute.js';
import { checkParams, readPlanConcurrency, readRunOptions, type RunFlags } from './options.js';

/** Runs a pipeline or plan file: flags, definition and params are checked first, then it runs, then its end is told. */
export async function run(flags: RunFlags, context: CliContext): Promise<ExitStatus> {
  const options = readRunOptions(flags);
  const planConcurrency = readPlanConcurrency(flags);
  if (flags.tenant === '') throw new BadUsage('--tenant takes a name', 'as in --tenant acme');
  const params = await readJsonObject('--params', flags.params, context);
  const preparation = await prepare(flags, context);
  if (preparation.kind === 'plan' && params !== undefined) throw paramsOfPlan();
  if (preparation.kind === 'pipeline' && planConcurrency !== undefined) throw concurrencyOfPipeline();
  if (!preparation.check.ok || wantsWarnings(flags)) tellProblems(preparation, context);
  if (!preparation.check.ok) return EXIT.invalid;
  if (preparation.kind === 'pipeline') {
    return runPipeline(preparation.check.pipeline, preparation, { params, options }, flags, context);
  }
  const { runPlan } = await import('./run-plan.js');
  return runPlan(preparation, { options, planConcurrency }, flags, context);
}

async function runPipeline(
  pipeline: Pipeline,
  { inputs, session, fileRoots }: PipelinePreparation,
  { params = {}, options }: { readonly params: JsonObject | undefined; readonly options: ExecutionOptions },
  flags: RunFlags,
  context: CliContext,
): Promise<ExitStatus> {
  await checkParams(pipeline.definition, params, `${PROGRAM} run ${flags.file}`, context);
  const runInputs: RunInputs = {
    pipeline,
    params,
    options,
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(flags.tenant !== undefined && { tenant_id: flags.tenant }),
  };
  const shown = {
    definitionFiles: [flags.file],
    submit: (registry, submission) => registry.submit(runInputs, submission),
    hasSeveralWaves: false,
    picture: () => new RunPicture(pipeline.waves),
    failures: (record, style, terminal) => failureLines(record, pipeline, style, terminal),
  } satisfies ShownRun;
  return perform(shown, flags, fileRoots, context);
}

function paramsOfPlan(): BadUsage {
  return new BadUsage(
    '--params is for pipelines: a plan has none',
    `give --inputs '{"key": "value"}', which the plan hands on to its sub-pipelines`,
  );
}

function concurrencyOfPipeline(): BadUsage {
  return new BadUsage(
    '--plan-concurrency is for plans',
    '--concurrency limits how many items of one fan-out are in flight',
  );
}

function wantsWarnings({ json, quiet }: RunFlags): boolean {
  return !json && !quiet;
}
