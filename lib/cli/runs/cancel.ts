import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { wavesAtWork } from '../render/run-summary.js';
import { ask, findRun, type ServerFlags } from './server.js';

interface CancelFlags extends ServerFlags {
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

interface DeleteFlags extends ServerFlags {
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
