import { Option } from 'clipanion';
import type { ExitStatus } from '../exit-status.js';
import {
  BREAK_BEFORE_OPTION,
  BREAK_ON_FAILURE_OPTION,
  ShellRunCommand,
  TENANT_OPTION,
  listOption,
  flagOption,
  textOption,
} from '../input/shared-options.js';
import { executeRun } from '../run/execute-run.js';
import { prepareLocalRun } from '../run/local/local-run.js';
import { ServerClock } from '../run/server-backend.js';
import { assertFlagsFitServer, prepareServerRun } from '../run/server-submission.js';
import { assertCanAsk } from '../run/submission.js';
import { callServer } from '../runs/server-client.js';

export class RunCommand extends ShellRunCommand {
  static override paths = [['run']];
  static override usage = ShellRunCommand.Usage({
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

  file = Option.String({ name: 'FILE' });
  breakBefore = listOption`--break-before ${BREAK_BEFORE_OPTION}`;
  breakOnFailure = flagOption`--break-on-failure ${BREAK_ON_FAILURE_OPTION}`;
  tenant = textOption`--tenant ${TENANT_OPTION}`;
  server = textOption`--server <URL> run it on this server, with the tools of the server; Ctrl-C cancels it there`;
  noStore = flagOption`--no-store do not keep this run`;

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    assertCanAsk(this);
    if (this.server === undefined) return executeRun(() => prepareLocalRun(this, context), this, context);
    assertFlagsFitServer(this);
    return callServer(this, context, (client) => {
      const onServer = { ...context, clock: new ServerClock(context.clock) };
      return executeRun((signals) => prepareServerRun(this, client, signals, onServer), this, onServer);
    });
  }
}
