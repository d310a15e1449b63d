import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { printJson } from '../json-output.js';
import { type Style, styleOf } from '../style.js';
import { type Terminal, terminalOf } from '../terminal.js';
import { screenLines } from '../wrap.js';
import type { RunFlags } from './flags.js';
import { printOutcome } from './outputs.js';
import { summaryLine } from './summary.js';

/** Tells how a run ended: its outputs on standard output, anything else on standard error. */
export function tellEnd(
  record: RunRecord,
  failures: (record: RunRecord, style: Style, terminal: Terminal) => string[],
  flags: RunFlags,
  context: CliContext,
): void {
  const terminal = terminalOf(context.stderr, context.env);
  const style = styleOf(terminal);
  const { result } = record;
  const summarised = flags.verbose || (terminal.redraws && !flags.json && !flags.quiet);
  const about = result === null ? failures(record, style, terminal) : [];
  const lines =
    result === null || summarised ? [...screenLines(summaryLine(record, style), terminal), ...about] : [];
  if (lines.length > 0) context.stderr.write(`${lines.join('\n')}\n`);
  if (result === null) return;
  if (flags.json) printJson(outputOf(record), context);
  else printOutcome(result, context);
}

/** What `--json` prints of a run that succeeded: the outputs of a pipeline (D41), the result of a plan (D47). */
export function outputOf({ result, events }: RunRecord): unknown {
  return result?.plan_id === undefined ? result?.outputs : { ...result, events };
}
