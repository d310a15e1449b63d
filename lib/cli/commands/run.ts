import { BY_COMMAND_LINE } from '../../common/wire/started-by.js';
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { findChecked, loadDefinition } from '../input/load-definition.js';
import { DEFAULT_TENANT } from '../input/secrets.js';
import { printProblems } from '../input/problems.js';
import { PROGRAM } from '../package-info.js';
import { StopSignals } from '../process-events.js';
import { type DisplayedRun, executeRun } from '../run/execute-run.js';
import { findHistoryFolder, keepsRuns } from '../run/local/history.js';
import {
  DEFAULT_OUTPUT_FOLDER,
  describeLocalRun,
  listFilesRead,
  openLocalRegistry,
} from '../run/local/local-run.js';
import {
  assertCanAsk,
  assertFlagsFit,
  checkParams,
  hasBreakpoints,
  readRunValues,
} from '../run/run-flags.js';
import { ServerBackend } from '../run/server-backend.js';
import { prepareSubmission } from '../run/submission.js';
import { assertNoOwnTools, callServer } from '../runs/server-client.js';
import { ServerClock } from '../runs/watch.js';
import { submitChecked } from '../../submission/submitter.js';
import { UsageError } from '../usage-errors.js';
import {
  ARTIFACTS_OPTION,
  EVENTS_OPTION,
  INSPECT_OPTION,
  JSON_OPTION,
  MCP_OPTION,
  MODEL_OPTION,
  NO_STORE_OPTION,
  OUTPUT_OPTION,
  PARTIAL_OPTION,
  QUIET_OPTION,
  RECORD_OPTION,
  RunFileCommand,
  STORE_OPTION,
  TOOLS_OPTION,
  VERBOSE_OPTION,
} from '../input/shared-options.js';

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
      your own tools.

      The folder .wavetrain keeps the newest 100 runs with their inputs, outputs and events, but without the values of
      secrets: wavetrain runs list and runs show look at them, and wavetrain rerun goes on from where a run failed or
      was interrupted. It is the one of the working directory, or of a folder above it. In CI, and with --no-store,
      nothing is kept.

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
  json = Option.Boolean('--json', false, { description: JSON_OPTION });
  output = Option.String('--output', { description: OUTPUT_OPTION });
  partial = Option.Boolean('--partial', false, { description: PARTIAL_OPTION });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  mcp = Option.String('--mcp', { description: MCP_OPTION });
  events = Option.String('--events', { description: EVENTS_OPTION });
  record = Option.String('--record', { description: RECORD_OPTION });
  inspect = Option.String('--inspect', { tolerateBoolean: true, description: INSPECT_OPTION });
  artifacts = Option.String('--artifacts', {
    description: `${ARTIFACTS_OPTION}; default outputs; with --server, download them to this folder (without it, they stay on the server)`,
  });
  store = Option.String('--store', { description: STORE_OPTION });
  noStore = Option.Boolean('--no-store', false, { description: NO_STORE_OPTION });
  model = Option.String('--model', { description: MODEL_OPTION });
  verbose = Option.Boolean('--verbose', false, { description: VERBOSE_OPTION });
  quiet = Option.Boolean('--quiet', false, { description: QUIET_OPTION });

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
    const loaded = await loadDefinition(this, context);
    assertFlagsFit(loaded.kind, values);
    const { check, inputs, session, fileRoots } = loaded;
    if (!check.ok || !(this.json || this.quiet)) printProblems(loaded, context);
    const checked = findChecked(loaded);
    if (checked === undefined) return EXIT.invalid;
    if (checked.kind === 'pipeline') {
      await checkParams(checked.pipeline.definition, params ?? {}, `${PROGRAM} run ${this.file}`);
    }
    const outputFolder = resolve(context.cwd, this.artifacts ?? DEFAULT_OUTPUT_FOLDER);
    const folder = keepsRuns(this, context) ? findHistoryFolder(this, context) : undefined;
    const local = await openLocalRegistry(this, { folder, fileRoots, outputFolder }, context);
    // An absent flag leaves its field out, so that the default applies.
    const submitted = {
      options,
      ...(params && { params }),
      ...(inputs && { inputs }),
      ...(session && { session }),
      ...(breakpoints && { breakpoints }),
      ...(planConcurrency && { plan_concurrency: planConcurrency }),
    };
    const tenantId = this.tenant ?? DEFAULT_TENANT;
    const displayed = await describeLocalRun(
      checked,
      planConcurrency,
      local,
      (registry, { onEvent, onInspection }) =>
        submitChecked(registry, checked, {
          values: submitted,
          tenantId,
          startedBy: BY_COMMAND_LINE,
          onEvent,
          onInspection,
        }),
    );
    return { ...displayed, filesRead: listFilesRead(this, loaded, context), mayPause: hasBreakpoints(this) };
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
    if (this.store !== undefined) {
      throw new UsageError(
        '--store does not go with --server',
        'a server keeps its own runs: start it with SERVICE_STORE=FILE',
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
