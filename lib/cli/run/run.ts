import type { RunInputs } from '../../execution/run-inputs.js';
import type { JsonObject } from '../../json.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { BadUsage } from '../bad-usage.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, statusOfRun } from '../exit-status.js';
import { readJsonObject } from '../flags/json-object.js';
import { type Preparation, preparePipeline } from '../preparation.js';
import { drained } from '../output.js';
import { PROGRAM } from '../program.js';
import { openDisplay } from '../progress/open-display.js';
import { tellProblems } from '../tell-problems.js';
import { conduct } from './conduct.js';
import { EventFile } from './event-file.js';
import type { RunFlags } from './flags.js';
import { readRunOptions } from './options.js';
import { tellEnd } from './outcome.js';
import { checkParams } from './params.js';
import { tellStrays } from './strays.js';

/** Runs a pipeline file: flags, definition and params are checked first, then it runs, then its end is told. */
export async function run(flags: RunFlags, context: CliContext): Promise<ExitStatus> {
  const options = readRunOptions(flags);
  if (flags.tenant === '') throw new BadUsage('--tenant takes a name', 'as in --tenant acme');
  const params = (await readJsonObject('--params', flags.params, context)) ?? {};
  const preparation = await preparePipeline(flags, context);
  if (!preparation.check.ok || wantsWarnings(flags)) tellProblems(preparation, context);
  if (!preparation.check.ok) return EXIT.invalid;
  const { pipeline } = preparation.check;
  await checkParams(pipeline.definition, params, `${PROGRAM} run ${flags.file}`, context);
  const runInputs = runInputsOf(pipeline, preparation, params, { options, tenant: flags.tenant });
  return perform(runInputs, flags, preparation, context);
}

async function perform(
  runInputs: RunInputs,
  flags: RunFlags,
  { fileRoots }: Preparation,
  context: CliContext,
): Promise<ExitStatus> {
  const eventFile =
    flags.events === undefined ? undefined : await EventFile.open(flags.events, flags.file, context);
  const registry = await context.services.registry(fileRoots, context.clock);
  const display = openDisplay(flags, runInputs.pipeline.waves, context);
  // Until everything is printed: what a tool left behind must not cut the outputs off.
  const silence = tellStrays(context.processEvents, (line) => display.say(line));
  try {
    const record = await conduct(registry, runInputs, { display, eventFile }, context);
    tellEnd(record, runInputs.pipeline, flags, context);
    await drained(context.stdout);
    return worse(statusOfRun(record.status), await closeEvents(eventFile, context));
  } finally {
    silence();
    await eventFile?.close();
  }
}

async function closeEvents(eventFile: EventFile | undefined, { stderr }: CliContext): Promise<ExitStatus> {
  const failure = await eventFile?.close();
  if (failure === undefined) return EXIT.done;
  stderr.write(`${PROGRAM}: ${failure}\n`);
  return EXIT.failed;
}

function worse(run: ExitStatus, events: ExitStatus): ExitStatus {
  return run === EXIT.done ? events : run;
}

function runInputsOf(
  pipeline: Pipeline,
  { inputs, session }: Preparation,
  params: JsonObject,
  { options, tenant }: { options: RunInputs['options'] & object; tenant: string | undefined },
): RunInputs {
  return {
    pipeline,
    params,
    options,
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(tenant !== undefined && { tenant_id: tenant }),
  };
}

function wantsWarnings({ json, quiet }: RunFlags): boolean {
  return !json && !quiet;
}
