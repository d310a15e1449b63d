import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { describeDraining } from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { callServer, resolveRunId, type RunIdFlags } from './server-client.js';
import { type FollowFlags, followRun, printSettledRun } from './watch.js';

interface CancelFlags extends RunIdFlags {
  readonly force: boolean;
}

/** Cancels a run and prints what it still waits for. */
export async function cancelRun(flags: CancelFlags, context: CliContext): Promise<ExitStatus> {
  const record = await callServer(flags, context, async (client) =>
    client.cancel(await resolveRunId(client, flags.runId), { force: flags.force }),
  );
  const { run_id, settled } = record;
  const remaining = flags.force
    ? 'its tools were asked to stop'
    : `${describeDraining(record)} first (${PROGRAM} runs cancel ${run_id} --force stops the tools)`;
  context.stderr.write(`cancelled ${run_id}${settled ? '' : `: ${remaining}`}\n`);
  return EXIT.done;
}

interface RerunFlags extends RunIdFlags, FollowFlags {
  readonly from: string | undefined;
  readonly watch: boolean;
}

/** Reruns a settled run (D35): prints the id of the new run, or watches it. */
export async function rerunRun(flags: RerunFlags, context: CliContext): Promise<ExitStatus> {
  return callServer(flags, context, async (client) => {
    const accepted = await client.rerun(await resolveRunId(client, flags.runId), { from: flags.from });
    if (flags.watch) {
      context.stderr.write(`submitted ${accepted.run_id}\n`);
      const record = await followRun(client, accepted.run_id, flags, context);
      return record === undefined ? EXIT.interrupted : printSettledRun(record, flags, context);
    }
    if (flags.json) printJson(accepted, context);
    else context.stdout.write(`${accepted.run_id}\n`);
    return EXIT.done;
  });
}

/** Deletes a settled run from a server. */
export async function deleteRun(flags: RunIdFlags, context: CliContext): Promise<ExitStatus> {
  const runId = await callServer(flags, context, async (client) => {
    const id = await resolveRunId(client, flags.runId);
    await client.remove(id);
    return id;
  });
  context.stderr.write(`deleted ${runId}\n`);
  return EXIT.done;
}
