import { Command, Option } from 'clipanion';
import { readConfig } from '../../common/config.js';
import type { JsonObject } from '../../common/json.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { PlanInputs, RunInputs } from '../../execution/run-inputs.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readJsonObject, readNumber } from '../input/flags.js';
import { type LoadedDefinition, loadDefinition } from '../input/load-definition.js';
import { printProblems } from '../input/problems.js';
import { PROGRAM } from '../package-info.js';
import { StopSignals } from '../process-events.js';
import { PipelineRunView } from '../progress/run-view.js';
import { pipelineFailureLines, planFailureLines } from '../render/run-summary.js';
import { type DisplayedRun, executeRun } from '../run/execute-run.js';
import { checkParams, readExecutionOptions } from '../run/run-flags.js';
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
      includes the final values on the blackboard. The pipelines of a plan are read from files in its folder.

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
    description:
      '<JSON> values of the params of a pipeline; absent ones keep their default; @FILE reads them from a file',
  });
  inputs = Option.String('--inputs', { description: INPUTS_OPTION });
  session = Option.String('--session', { description: SESSION_OPTION });
  sessionFile = Option.String('--session-file', {
    description: '<FILE> session values from a JSON file; --session overrides them key by key',
  });
  json = Option.Boolean('--json', false, {
    description:
      'print only the outputs (for a plan, the whole result), as one JSON document; a run that fails prints its errors',
  });
  timeout = Option.String('--timeout', {
    description: '<SECONDS> time limit of each attempt of a tool; by default there is none',
  });
  concurrency = Option.String('--concurrency', {
    description: '<N> maximum number of items of one fan-out in flight; default unlimited',
  });
  planConcurrency = Option.String('--plan-concurrency', {
    description:
      '<N> maximum number of sub-pipelines that run at once; overrides plan_concurrency of the plan; default 1',
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
      '<FILE> write each event to this file as it happens, one JSON document per line; overwrites the file',
  });
  tenant = Option.String('--tenant', { description: '<ID> namespace on the blackboard; default "default"' });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
  verbose = Option.Boolean('--verbose', false, {
    description: 'print each event on a line of standard error',
  });
  quiet = Option.Boolean('--quiet', false, { description: 'show no progress and no warnings' });

  /** Runs a pipeline or plan file: checks flags, definition and params, then executes the run and prints its result. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const signals = new StopSignals(context.processEvents);
    try {
      // A signal before the run begins ends the command with the same status as a later one (D40).
      const interrupted = signals.first.then(() => EXIT.interrupted);
      const prepared = await Promise.race([this.#prepare(), interrupted]);
      if (typeof prepared === 'number') return prepared;
      return await executeRun(prepared.run, this, prepared.fileRoots, signals, context);
    } finally {
      signals.close();
    }
  }

  /** Reads and checks everything. Returns the run, or the exit status of an invalid definition. */
  async #prepare(): Promise<PreparedRun | ExitStatus> {
    const { context } = this;
    const options = readExecutionOptions(this);
    const planConcurrency = readNumber('--plan-concurrency', this.planConcurrency, PLAN_CONCURRENCY);
    if (this.tenant === '') throw new UsageError('--tenant must not be empty', 'for example --tenant acme');
    const params = await readJsonObject('--params', this.params, context);
    const loaded = await loadDefinition(this, context);
    assertFlagsFit(loaded.kind, params, planConcurrency);
    const { kind, check, inputs, session, fileRoots } = loaded;
    if (!check.ok || !(this.json || this.quiet)) printProblems(loaded, context);
    if (!check.ok) return EXIT.invalid;
    // An absent flag leaves its field out, so that the default applies.
    const commonInputs = {
      options,
      ...(inputs && { inputs }),
      ...(session && { session }),
      ...(this.tenant !== undefined && { tenant_id: this.tenant }),
    };
    if (kind === 'pipeline') {
      const { pipeline } = check;
      await checkParams(pipeline.definition, params ?? {}, `${PROGRAM} run ${this.file}`);
      const pipelineInputs = { pipeline, params: params ?? {}, ...commonInputs };
      return { run: displayPipeline(pipelineInputs, listFilesRead(this, loaded, context)), fileRoots };
    }
    const { plan } = check;
    if (plan === undefined) return EXIT.invalid;
    const planInputs = {
      plan,
      ...commonInputs,
      ...(planConcurrency && { plan_concurrency: planConcurrency }),
    };
    return { run: await displayPlan(planInputs, listFilesRead(this, loaded, context)), fileRoots };
  }
}

interface PreparedRun {
  readonly run: DisplayedRun;
  /** Where its tools may read files. */
  readonly fileRoots: readonly string[];
}

const PLAN_CONCURRENCY = { least: 1, whole: true, unit: 'sub-pipelines at once', example: '2' } as const;

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

/** Lists the files that flags and variables name, and those of a plan. */
function listFilesRead(flags: RunCommand, { files }: LoadedDefinition, { env }: CliContext): string[] {
  const { file, params, inputs, session, sessionFile, envFile, tools = [] } = flags;
  const named = [params, inputs, session].map((value) =>
    value?.startsWith('@') ? value.slice(1) : undefined,
  );
  return [
    file,
    ...[...files.values()].map(({ name }) => name),
    ...[...named, sessionFile, envFile].filter((name) => name !== undefined),
    ...tools,
    ...readConfig(env).tools,
  ];
}

function displayPipeline(inputs: RunInputs, filesRead: readonly string[]): DisplayedRun {
  const { pipeline } = inputs;
  return {
    submit: (registry, options) => registry.submit(inputs, options),
    hasParallelWaves: false,
    filesRead,
    createView: () => new PipelineRunView(pipeline.waves),
    formatFailures: (record, terminal) => pipelineFailureLines(record, pipeline, terminal),
  };
}

async function displayPlan(inputs: PlanInputs, filesRead: readonly string[]): Promise<DisplayedRun> {
  const { PlanRunView } = await import('../progress/plan-view.js');
  const { subPipelines, definition } = inputs.plan;
  const concurrency = inputs.plan_concurrency ?? definition.plan_concurrency ?? 1;
  const waves = new Map([...subPipelines].map(([id, { pipeline }]) => [id, pipeline.waves]));
  return {
    submit: (registry, options) => registry.submitPlan(inputs, options),
    hasParallelWaves: subPipelines.size > 1 && concurrency > 1,
    filesRead,
    createView: () => new PlanRunView(subPipelines.size, waves),
    formatFailures: planFailureLines,
  };
}
