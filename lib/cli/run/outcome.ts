import type { Pipeline } from '../../pipelines/pipeline.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { printJson } from '../json-output.js';
import { styleOf } from '../style.js';
import { terminalOf } from '../terminal.js';
import { failureLines } from './failures.js';
import type { RunFlags } from './flags.js';
import { printOutcome } from './outputs.js';
import { summaryLine } from './summary.js';

/** Tells how a run ended: its outputs on standard output, anything else on standard error. */
export function tellEnd(record: RunRecord, pipeline: Pipeline, flags: RunFlags, context: CliContext): void {
  const terminal = terminalOf(context.stderr, context.env);
  const style = styleOf(terminal);
  const { result } = record;
  const summarised = flags.verbose || (terminal.redraws && !flags.json && !flags.quiet);
  const about = result === null ? failureLines(record, pipeline, style, terminal) : [];
  const lines = result === null || summarised ? [summaryLine(record, style), ...about] : [];
  if (lines.length > 0) context.stderr.write(`${lines.join('\n')}\n`);
  if (result === null) return;
  if (flags.json) printJson(result.outputs, context);
  else printOutcome(result, context);
}
