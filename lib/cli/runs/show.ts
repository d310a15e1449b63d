import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../json-output.js';
import { printOutcome } from '../run/outputs.js';
import { styleOf } from '../style.js';
import { terminalOf } from '../terminal.js';
import { ask, type ServerFlags } from './ask.js';
import { findRun } from './find-run.js';
import { recordLines } from './record-lines.js';

export interface ShowFlags extends ServerFlags {
  readonly runId: string;
  readonly json: boolean;
}

/** Shows a run as it is now. */
export async function showRun(flags: ShowFlags, context: CliContext): Promise<ExitStatus> {
  const record = await ask(flags, context, async (client) =>
    client.record(await findRun(client, flags.runId)),
  );
  if (flags.json) {
    printJson(record, context);
    return EXIT.done;
  }
  const terminal = terminalOf(context.stdout, context.env);
  context.stdout.write(`${recordLines(record, styleOf(terminal), terminal).join('\n')}\n`);
  if (record.result !== null) printOutcome(record.result, context);
  return EXIT.done;
}
