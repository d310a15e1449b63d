import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../render/stdout.js';
import { ask, findRun, type ServerFlags } from './server.js';
import { type FollowFlags, followRun, tellSettled } from './watch.js';

interface RerunFlags extends ServerFlags, FollowFlags {
  readonly runId: string;
  readonly from: string | undefined;
  readonly watch: boolean;
}

/** Runs a settled run once more: prints the id of the new run, or watches it. */
export async function rerunRun(flags: RerunFlags, context: CliContext): Promise<ExitStatus> {
  return ask(flags, context, async (client) => {
    const accepted = await client.rerun(await findRun(client, flags.runId), { from: flags.from });
    if (flags.watch) {
      context.stderr.write(`submitted ${accepted.run_id}\n`);
      const record = await followRun(client, accepted.run_id, flags, context);
      return record === undefined ? EXIT.interrupted : tellSettled(record, flags, context);
    }
    if (flags.json) printJson(accepted, context);
    else context.stdout.write(`${accepted.run_id}\n`);
    return EXIT.done;
  });
}
