import { Option } from 'clipanion';
import type { WavetrainClient } from '../../client/client.js';
import type { AcceptedRun } from '../../runs/record.js';
import {
  FULL_OPTION,
  VERBOSE_OPTION,
  SERVER_OPTION,
  RunValuesCommand,
  BREAK_BEFORE_OPTION,
  BREAK_ON_FAILURE_OPTION,
  TENANT_OPTION,
  listOption,
  flagOption,
  textOption,
} from '../input/shared-options.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import type { DisplayFlags } from '../progress/display.js';
import { printJson } from '../render/stdout.js';
import { checkOnServer } from '../run/server-submission.js';
import { callServer, type ServerFlags } from './server-client.js';
import { followRun, printSettledRun } from './watch.js';

export class RunsSubmitCommand extends RunValuesCommand {
  static override paths = [['runs', 'submit']];
  static override usage = RunValuesCommand.Usage({
    description: 'submits a pipeline or a plan to a server and prints the run id',
    details: `
      The server validates the file and runs it with its own tools. The pipelines of a plan are read from files in its
      folder and sent with it. With --watch the command shows the run until it settles, and exits with its status; Ctrl-C
      stops watching, and the run continues. If the server requires an API key, set WAVETRAIN_API_KEY.

      wavetrain run FILE --server URL runs a file on a server like a run of this process: Ctrl-C cancels the run.
    `,
    examples: [
      ['submit a file', '$0 runs submit pipeline.yaml'],
      ['with params, and watch it', `$0 runs submit pipeline.yaml --params '{"city": "Oslo"}' --watch`],
    ],
  });

  file = Option.String({ name: 'FILE' });
  breakBefore = listOption`--break-before ${BREAK_BEFORE_OPTION}`;
  breakOnFailure = flagOption`--break-on-failure ${BREAK_ON_FAILURE_OPTION}`;
  tenant = textOption`--tenant ${TENANT_OPTION}`;
  server = textOption`--server ${SERVER_OPTION}`;
  watch = flagOption`--watch watch the run, like runs watch`;
  json = flagOption`--json print the accepted run as one JSON document; with --watch, print the outputs`;
  full = flagOption`--full with --watch: ${FULL_OPTION}`;
  verbose = flagOption`--verbose with --watch: ${VERBOSE_OPTION}`;
  quiet = flagOption`--quiet show no warnings; with --watch, no progress`;

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    return callServer(this, context, async (client) => {
      const submission = await checkOnServer(this, 'runs submit', client, context);
      if (typeof submission === 'number') return submission;
      return showAccepted(await submission.submit(), this, client, context);
    });
  }
}

export async function showAccepted(
  accepted: AcceptedRun,
  flags: DisplayFlags & Pick<ServerFlags, 'server'> & { readonly watch: boolean; readonly full: boolean },
  client: WavetrainClient,
  context: CliContext,
): Promise<ExitStatus> {
  if (flags.watch) {
    context.stderr.write(`submitted ${accepted.run_id}\n`);
    const record = await followRun(client, accepted.run_id, flags, context);
    return record === undefined ? EXIT.interrupted : printSettledRun(record, flags, context);
  }
  if (flags.json) printJson(accepted, context);
  else context.stdout.write(`${accepted.run_id}\n`);
  return EXIT.done;
}
