import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../program.js';
import { wavesAtWork } from '../run/course.js';
import { ask, type ServerFlags } from './ask.js';
import { findRun } from './find-run.js';

export interface CancelFlags extends ServerFlags {
  readonly runId: string;
  readonly force: boolean;
}

/** Cancels a run, and says whether anything of it is still at work. */
export async function cancelRun(flags: CancelFlags, context: CliContext): Promise<ExitStatus> {
  const record = await ask(flags, context, async (client) =>
    client.cancel(await findRun(client, flags.runId), { force: flags.force }),
  );
  const { run_id, settled } = record;
  const rest = flags.force
    ? 'its tools were told to stop'
    : `${wavesAtWork(record)} first (${PROGRAM} runs cancel ${run_id} --force stops the tools)`;
  context.stderr.write(`cancelled ${run_id}${settled ? '' : `: ${rest}`}\n`);
  return EXIT.done;
}
