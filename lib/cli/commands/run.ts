import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { readConfig } from '../../common/config.js';
import type { PlanInputs, RunInputs } from '../../execution/run-inputs.js';
import type { CliContext, RegistryApi } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { type DefinitionFile, loadDefinition } from '../input/load-definition.js';
import { printProblems } from '../input/problems.js';
import { openSecrets } from '../input/secrets.js';
import { PROGRAM } from '../package-info.js';
import { StopSignals } from '../process-events.js';
import { PipelineRunView } from '../progress/run-view.js';
import { pipelineFailureLines, planFailureLines } from '../render/run-summary.js';
import { type DisplayedRun, executeRun } from '../run/execute-run.js';
import type { RunBackend } from '../run/run-backend.js';
import {
  assertCanAsk,
  assertFlagsFit,
  checkParams,
  hasBreakpoints,
  readRunValues,
} from '../run/run-flags.js';
import { ServerBackend } from '../run/server-backend.js';
import { prepareSubmission } from '../run/submission.js';
import { findFilesHere } from '../run/written-files.js';
import { assertNoOwnTools, callServer } from '../runs/server-client.js';
import { ServerClock } from '../runs/watch.js';
import { UsageError } from '../usage-errors.js';
import { MCP_OPTION, RunFileCommand, TOOLS_OPTION, VERBOSE_OPTION } from '../input/shared-options.js';

/** In the working directory, for the files that tools write by name. */
const DEFAULT_OUTPUT_FOLDER = 'outputs';

export class RunCommand extends RunFileCommand {
  static override paths = [['run']];
  static override usage = Command.Usage({
    description: 'runs a pipeline or a plan and prints its outputs',
    details: `
      Tasks run in waves: all tasks of a wave start together, and the next wave starts when all of them have settled. A
      terminal shows their progress. Outputs and statistics go to standard output, everything else to standard error.

      The sub-pipelines of a plan run one after another, each after those that store the keys it reads. The result
      includes the final values on the blackboard. The pipelines of a plan are read from files in its folder.

      A run that fails prints each failure with the inputs of its task; --verbose prints them whole, and the stacks of
      your own tools. This command forgets its run; a run on a server (wavetrain serve, then --server) can be looked at
      and rerun from where it failed.

      --break-before TASK and --break-on-failure pause the run: type "show TASK" to see inputs and outputs, "continue"
      or "step" to let it go on. Without anybody to type, a run that pauses is cancelled.

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
      ['one output, as a file', '$0 run pipeline.yaml --output report > report.md'],
      ['save every event', '$0 run pipeline.yaml --events events.jsonl'],
      ['stop before a task, to look at its inputs', '$0 run pipeline.yaml --break-before summary'],
      ['record the run for a bug report', '$0 run pipeline.yaml --record out.wtrec'],
      ['a plan, two sub-pipelines at once', '$0 run plan.yaml --plan-concurrency 2'],
      ['with your own tools', '$0 run pipeline.yaml --tools tools.ts'],
      ['on a server, with its tools', '$0 run pipeline.yaml --server http://127.0.0.1:8000'],
    ],
  });

  server = Option.String('--server', {
    description: '<URL> run it on this server, with the tools of the server; Ctrl-C cancels it there',
  });
  json = Option.Boolean('--json', false, {
    description:
      'print only the outputs (for a plan, the whole result) as one JSON document; if the run fails, its status, error, failures with their inputs, and the outputs that there are',
  });
  output = Option.String('--output', {
    description:
      '<TASK> print only the output of this task, whole: a text as it is, anything else as JSON; in a plan SUB_PIPELINE/TASK',
  });
  partial = Option.Boolean('--partial', false, {
    description: 'if the run fails, print the outputs of the tasks that succeeded',
  });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  mcp = Option.String('--mcp', { description: MCP_OPTION });
  events = Option.String('--events', {
    description:
      '<FILE> write each event to this file as it happens, one JSON document per line; overwrites the file',
  });
  record = Option.String('--record', {
    description:
      '<FILE> record what the actors of the run do, for wavetrain inspect and bug reports; secrets are masked; overwrites the file',
  });
  inspect = Option.String('--inspect', {
    tolerateBoolean: true,
    description:
      'show what the actors of the run do on a page of this machine, and keep the page after the run until Enter or Ctrl-C; --inspect=wait begins the run when the page is open',
  });
  artifacts = Option.String('--artifacts', {
    description:
      '<FOLDER> write the files of tools such as export to this folder; default outputs; with --server, download them to this folder (without it, they stay on the server)',
  });
  model = Option.String('--model', {
    description:
      '<PROVIDER/MODEL> language model of tasks that name none, such as openai/gpt-4o-mini; default WAVETRAIN_MODEL',
  });
  verbose = Option.Boolean('--verbose', false, { description: VERBOSE_OPTION });
  quiet = Option.Boolean('--quiet', false, { description: 'show no progress and no warnings' });

  /** Runs a pipeline or plan file: checks flags, definition and params, then executes the run and prints its result. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    assertCanAsk(this);
    const signals = new StopSignals(context.processEvents);
    try {
      // A signal before the run begins ends the command with the same status as a later one (D40).
      const interrupted = signals.first.then(() => EXIT.interrupted);
      if (this.server !== undefined) return await this.#runOnServer(signals, interrupted);
      const prepared = await Promise.race([this.#prepare(), interrupted]);
      return typeof prepared === 'number' ? prepared : await executeRun(prepared, this, signals, context);
    } finally {
      signals.close();
    }
  }

  /** Reads and checks everything. Returns the run, or the exit status of an invalid definition. */
  async #prepare(): Promise<DisplayedRun | ExitStatus> {
    const { context } = this;
    const values = await readRunValues(this, context);
    const { options, params, planConcurrency, breakpoints } = values;
    const mayPause = hasBreakpoints(this);
    const loaded = await loadDefinition(this, context);
    assertFlagsFit(loaded.kind, values);
    const { kind, check, inputs, session, fileRoots } = loaded;
    if (!check.ok || !(this.json || this.quiet)) printProblems(loaded, context);
    if (!check.ok) return EXIT.invalid;
    const secrets = await openSecrets(context);
    const env = this.model === undefined ? context.env : { ...context.env, WAVETRAIN_MODEL: this.model };
    const mask = secrets?.mask;
    const outputFolder = resolve(context.cwd, this.artifacts ?? DEFAULT_OUTPUT_FOLDER);
    // An absent flag leaves its field out, so that the default applies.
    const commonInputs = {
      options,
      ...(inputs && { inputs }),
      ...(session && { session }),
      ...(this.tenant !== undefined && { tenant_id: this.tenant }),
      ...(breakpoints && { breakpoints }),
    };
    if (kind === 'pipeline') {
      const { pipeline } = check;
      await checkParams(pipeline.definition, params ?? {}, `${PROGRAM} run ${this.file}`);
      const pipelineInputs = { pipeline, params: params ?? {}, ...commonInputs };
      const registry = await context.openRegistry(fileRoots, context.clock, env, secrets, outputFolder);
      const displayed = displayPipeline(pipelineInputs, registry, listFilesRead(this, loaded, context));
      return { ...displayed, outputFolder, mask, mayPause };
    }
    const { plan } = check;
    if (plan === undefined) return EXIT.invalid;
    const planInputs = {
      plan,
      ...commonInputs,
      ...(planConcurrency && { plan_concurrency: planConcurrency }),
    };
    const registry = await context.openRegistry(fileRoots, context.clock, env, secrets, outputFolder);
    const displayed = await displayPlan(planInputs, registry, listFilesRead(this, loaded, context));
    return { ...displayed, outputFolder, mask, mayPause };
  }

  /** Has a server run the file, and displays the run as if it ran here. */
  async #runOnServer(signals: StopSignals, interrupted: Promise<ExitStatus>): Promise<ExitStatus> {
    const { artifacts, model, server = '' } = this;
    if (model !== undefined) {
      throw new UsageError(
        '--model does not go with --server',
        'a server has its own models: set WAVETRAIN_MODEL in its environment, or write "model" in the task',
      );
    }
    const flag =
      this.record !== undefined ? '--record' : this.inspect !== undefined ? '--inspect' : undefined;
    if (flag !== undefined) {
      throw new UsageError(
        `${flag} does not go with --server`,
        `a server records its own runs: ${PROGRAM} inspect RUN_ID shows one, and ${PROGRAM} runs recording RUN_ID downloads it`,
      );
    }
    assertNoOwnTools(this);
    return callServer(this, this.context, async (client) => {
      const clock = new ServerClock(this.context.clock);
      const context = { ...this.context, clock };
      const prepare = async (): Promise<DisplayedRun | ExitStatus> => {
        const submission = await prepareSubmission(this, 'run', client, context);
        if (typeof submission === 'number') return submission;
        const announce = !(this.json || this.quiet);
        const outputFolder = artifacts === undefined ? undefined : resolve(context.cwd, artifacts);
        const { submit } = submission;
        return {
          backend: new ServerBackend(client, clock, { submit, signals, server, announce, outputFolder }),
          filesRead: listFilesRead(this, submission.definition, context),
          outputFolder,
          mayPause: hasBreakpoints(this),
          ...(await submission.describe()),
        };
      };
      const prepared = await Promise.race([prepare(), interrupted]);
      return typeof prepared === 'number' ? prepared : executeRun(prepared, this, signals, context);
    });
  }
}

/** Executes a run in this process. */
function runHere(registry: RegistryApi, start: RunBackend['start']): RunBackend {
  return {
    start,
    record: (runId) => registry.record(runId),
    settled: (runId) => registry.settled(runId),
    cancel: (runId, options) => registry.cancel(runId, options),
    resume: async (runId, by) => void registry.resume(runId, by),
    tasks: (runId, query) => registry.tasks(runId, query),
    task: (runId, taskId, options) => registry.task(runId, taskId, options),
    item: (runId, taskId, item, options) => registry.item(runId, taskId, item, options),
    failedCalls: (runId, query) => registry.failedCalls(runId, query),
    items: (runId, taskId, query) => registry.items(runId, taskId, query),
    writtenFiles: async (record) => findFilesHere(record, registry),
    release: (runId) => {
      registry.forget(runId);
      return registry.cacheWritten();
    },
  };
}

/** Lists the files that flags and variables name, and those of a plan. */
function listFilesRead(flags: RunCommand, { files }: DefinitionFile, { env }: CliContext): string[] {
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

function displayPipeline(
  inputs: RunInputs,
  registry: RegistryApi,
  filesRead: readonly string[],
): Omit<DisplayedRun, 'outputFolder'> {
  const { pipeline } = inputs;
  return {
    backend: runHere(registry, ({ onEvent, onInspection }) =>
      registry.submit(inputs, { onEvent, onInspection }),
    ),
    hasParallelWaves: false,
    filesRead,
    createView: () => new PipelineRunView(pipeline.waves),
    formatFailures: (record, terminal, details) => pipelineFailureLines(record, pipeline, terminal, details),
    listOutputs: () => pipeline.waves.flat(),
  };
}

async function displayPlan(
  inputs: PlanInputs,
  registry: RegistryApi,
  filesRead: readonly string[],
): Promise<Omit<DisplayedRun, 'outputFolder'>> {
  const { PlanRunView } = await import('../progress/plan-view.js');
  const { subPipelines, definition } = inputs.plan;
  const concurrency = inputs.plan_concurrency ?? definition.plan_concurrency ?? 1;
  const waves = new Map([...subPipelines].map(([id, { pipeline }]) => [id, pipeline.waves]));
  return {
    backend: runHere(registry, ({ onEvent, onInspection }) =>
      registry.submitPlan(inputs, { onEvent, onInspection }),
    ),
    hasParallelWaves: subPipelines.size > 1 && concurrency > 1,
    filesRead,
    createView: () => new PlanRunView(subPipelines.size, waves),
    formatFailures: planFailureLines,
    listOutputs: () => [...waves].flatMap(([id, ofPart]) => ofPart.flat().map((taskId) => `${id}/${taskId}`)),
  };
}
