import { Command, Option } from 'clipanion';
import type { JsonObject } from '../../common/json.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readJsonObject } from '../input/flags.js';
import { loadDefinition } from '../input/load-definition.js';
import { printProblems } from '../input/problems.js';
import { PROGRAM } from '../package-info.js';
import { createPipelineRun, createPlanRun } from '../run/displayed-run.js';
import { executeRun } from '../run/execute-run.js';
import { checkParams, readExecutionOptions, readPlanConcurrency, type RunFlags } from '../run/run-flags.js';
import { UsageError } from '../usage-errors.js';
import { ENV_FILE_OPTION, INPUTS_OPTION, SESSION_OPTION, TOOLS_OPTION } from './shared-options.js';

export class RunCommand extends Command<CliContext> {
  static override paths = [['run']];
  static override usage = Command.Usage({
    description: 'runs a pipeline or a plan and prints its outputs',
    details: `
      Tasks run in waves: all tasks of a wave start together, and the next wave starts when all of them have settled. A
      terminal shows their progress. Outputs and statistics go to standard output, everything else to standard error.

      The sub-pipelines of a plan run one after another, each after those that store the keys it reads. The result
      includes the final values on the blackboard. The pipelines of a plan are read from the files beside it.

      Ctrl-C cancels the run: the current wave finishes and nothing else starts. A second Ctrl-C stops at once.

      The exit status is 0 if the run succeeded, 1 for an invalid pipeline or plan, 2 for bad flags or params, 3 if
      the run failed and 130 if it was interrupted.
    `,
    examples: [
      ['run a file', '$0 run pipeline.yaml'],
      ['with params', `$0 run pipeline.yaml --params '{"city": "Oslo", "days": 3}'`],
      [
        'inputs from a file, at most 8 items at once',
        '$0 run pipeline.yaml --inputs @inputs.json --concurrency 8',
      ],
      ['only the outputs as JSON, for other programs', '$0 run pipeline.yaml --json > outputs.json'],
      ['save every event', '$0 run pipeline.yaml --events events.jsonl'],
      ['a plan, two sub-pipelines at once', '$0 run plan.yaml --plan-concurrency 2'],
      ['with your own tools', '$0 run pipeline.yaml --tools tools.ts'],
    ],
  });

  file = Option.String({ name: 'FILE' });
  params = Option.String('--params', {
    description: '<JSON> params of a pipeline; the others keep their defaults; @FILE reads them from a file',
  });
  inputs = Option.String('--inputs', { description: INPUTS_OPTION });
  session = Option.String('--session', { description: SESSION_OPTION });
  sessionFile = Option.String('--session-file', {
    description: '<FILE> session values from a JSON file; --session overrides them key by key',
  });
  json = Option.Boolean('--json', false, {
    description:
      'print only the outputs (for a plan, the result) as one JSON document, and nothing else unless the run fails',
  });
  timeout = Option.String('--timeout', {
    description: '<SECONDS> time limit for each attempt of a tool; default no limit',
  });
  concurrency = Option.String('--concurrency', {
    description: '<N> maximum number of items of one fan-out in flight; default unlimited',
  });
  planConcurrency = Option.String('--plan-concurrency', {
    description:
      '<N> maximum number of sub-pipelines that run at once; default the plan_concurrency of the plan, or 1',
  });
  jitter = Option.String('--jitter', {
    description: '<FRACTION> random variation of retry delays, from 0 to 1; default 0',
  });
  retryBaseDelay = Option.String('--retry-base-delay', {
    description: '<SECONDS> delay before the first retry; doubles with each further retry; default 0.5',
  });
  maxRetryDelay = Option.String('--max-retry-delay', {
    description: '<SECONDS> upper limit of the retry delay; default 4',
  });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  events = Option.String('--events', {
    description:
      '<FILE> write each event to this file as it happens, one JSON document per line; replaces the file',
  });
  tenant = Option.String('--tenant', { description: '<ID> namespace on the blackboard; default "default"' });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
  verbose = Option.Boolean('--verbose', false, {
    description: 'print each event on a line of standard error',
  });
  quiet = Option.Boolean('--quiet', false, { description: 'show no progress and no warnings' });

  override execute(): Promise<number> {
    return run(this, this.context);
  }
}

/** Runs a pipeline or plan file: checks flags, definition and params, then executes the run and prints its result. */
async function run(flags: RunFlags, context: CliContext): Promise<ExitStatus> {
  const options = readExecutionOptions(flags);
  const planConcurrency = readPlanConcurrency(flags);
  if (flags.tenant === '') throw new UsageError('--tenant must not be empty', 'for example --tenant acme');
  const params = await readJsonObject('--params', flags.params, context);
  const loaded = await loadDefinition(flags, context);
  assertFlagsFit(loaded.kind, params, planConcurrency);
  if (!loaded.check.ok || !(flags.json || flags.quiet)) printProblems(loaded, context);
  if (!loaded.check.ok) return EXIT.invalid;
  if (loaded.kind === 'pipeline') {
    const { pipeline } = loaded.check;
    await checkParams(pipeline.definition, params ?? {}, `${PROGRAM} run ${flags.file}`);
    const pipelineRun = createPipelineRun(pipeline, loaded, flags, options, params ?? {});
    return executeRun(pipelineRun, flags, loaded.fileRoots, context);
  }
  const { plan } = loaded.check;
  if (plan === undefined) return EXIT.invalid;
  const planRun = await createPlanRun(plan, loaded, flags, options, planConcurrency);
  return executeRun(planRun, flags, loaded.fileRoots, context);
}

function assertFlagsFit(
  kind: DefinitionKind,
  params: JsonObject | undefined,
  planConcurrency: number | undefined,
): void {
  if (kind === 'plan' && params !== undefined) {
    throw new UsageError(
      '--params is for pipelines: plans have no params',
      `write --inputs '{"key": "value"}'; the plan passes its inputs on to its sub-pipelines`,
    );
  }
  if (kind === 'pipeline' && planConcurrency !== undefined) {
    throw new UsageError(
      '--plan-concurrency is for plans',
      'write --concurrency to limit the items of one fan-out in flight',
    );
  }
}
