import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, statusOfRun } from '../exit-status.js';
import { printJson } from '../json-output.js';
import { outputOf } from '../run/outcome.js';
import { printOutcome } from '../run/outputs.js';
import { summaryLine } from '../run/summary.js';
import { styleOf } from '../style.js';
import { terminalOf } from '../terminal.js';
import { screenLines } from '../wrap.js';
import { ask, type ServerFlags } from './ask.js';
import { findRun } from './find-run.js';
import { followRun, type FollowFlags } from './follow.js';
import { unsuccessfulLines } from './unsuccessful.js';

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
  const terminal = terminalOf(context.stderr, context.env);
  const style = styleOf(terminal);
  const { result } = record;
  const say = (lines: readonly string[]): unknown => context.stderr.write(`${lines.join('\n')}\n`);
  if (result === null) {
    say(unsuccessfulLines(record, style, terminal));
  } else {
    if (!json && !quiet) say(screenLines(summaryLine(record, style), terminal));
    if (json) printJson(outputOf(record), context);
    else printOutcome(result, context);
  }
  return statusOfRun(record.status);
}
