import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../program.js';
import { ask, type ServerFlags } from './ask.js';
import { findRun } from './find-run.js';

export interface CancelFlags extends ServerFlags {
  readonly runId: string;
  readonly force: boolean;
}

/** Cancels a run, and says whether anything of it is still at work. */
export async function cancelRun(flags: CancelFlags, context: CliContext): Promise<ExitStatus> {
  const { run_id, settled } = await ask(flags, context, async (client) =>
    client.cancel(await findRun(client, flags.runId), { force: flags.force }),
  );
  const rest = flags.force
    ? 'its tools were told to stop'
    : `the wave at work finishes first (${PROGRAM} runs cancel ${run_id} --force stops it)`;
  context.stderr.write(`cancelled ${run_id}${settled ? '' : `: ${rest}`}\n`);
  return EXIT.done;
}
