import type { RunRecord } from '../../client.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, statusOfRun } from '../exit-status.js';
import { printJson } from '../json-output.js';
import { failureLine } from '../run/failures.js';
import { outputOf } from '../run/outcome.js';
import { printOutcome } from '../run/outputs.js';
import { summaryLine } from '../run/summary.js';
import { styleFor } from '../style.js';
import { ask, type ServerFlags } from './ask.js';
import { findRun } from './find-run.js';
import { followRun, type FollowFlags } from './follow.js';

export interface WatchFlags extends ServerFlags, FollowFlags {
  readonly runId: string;
}

/** Watches a run until it has settled; the exit status is the run's. Ctrl-C leaves, and the run goes on. */
export async function watchRun(flags: WatchFlags, context: CliContext): Promise<ExitStatus> {
  const record = await ask(flags, context, async (client) =>
    followRun(client, await findRun(client, flags.runId), flags, context),
  );
  return record === undefined ? EXIT.interrupted : tellSettled(record, flags, context);
}

/** Tells how a run ended as `run` does: outputs on standard output, anything else on standard error. */
export function tellSettled(
  record: RunRecord,
  { json, quiet }: FollowFlags,
  context: CliContext,
): ExitStatus {
  const { result, failures } = record;
  const style = styleFor(context.stderr, context.env);
  const summary = result !== null && (json || quiet) ? [] : [summaryLine(record, style)];
  const lines = [...summary, ...failures.map((failure) => failureLine(failure, style))];
  if (lines.length > 0) context.stderr.write(`${lines.join('\n')}\n`);
  if (result !== null && json) printJson(outputOf(record), context);
  else if (result !== null) printOutcome(result, context);
  return statusOfRun(record.status);
}
