import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { ask, type ServerFlags } from './ask.js';
import { findRun } from './find-run.js';

export interface DeleteFlags extends ServerFlags {
  readonly runId: string;
}

/** Has a server forget a settled run. */
export async function deleteRun(flags: DeleteFlags, context: CliContext): Promise<ExitStatus> {
  const runId = await ask(flags, context, async (client) => {
    const found = await findRun(client, flags.runId);
    await client.remove(found);
    return found;
  });
  context.stderr.write(`deleted ${runId}\n`);
  return EXIT.done;
}
