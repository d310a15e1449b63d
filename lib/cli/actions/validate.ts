import type { Statistics } from '../../waves/statistics.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../json-output.js';
import { preparePipeline, type PipelineFlags, type Preparation } from '../preparation.js';
import { oneLine } from '../printable.js';
import { type Style, styleOf } from '../style.js';
import { tellProblems } from '../tell-problems.js';
import { terminalOf } from '../terminal.js';

/** Checks a pipeline without running it (rule 11). Answers `invalid` when it has errors. */
export async function validate(
  flags: PipelineFlags & { readonly json: boolean },
  context: CliContext,
): Promise<ExitStatus> {
  const preparation = await preparePipeline(flags, context);
  const { check } = preparation;
  if (flags.json) await printReport(preparation, context);
  else {
    tellProblems(preparation, context);
    if (check.ok) printStatistics(preparation.name, check.pipeline.statistics, context);
  }
  return check.ok ? EXIT.done : EXIT.invalid;
}

/** The body of the validation endpoint (D33, D41). */
async function printReport({ check }: Preparation, context: CliContext): Promise<void> {
  printJson(await context.services.report(check), context);
}

function printStatistics(name: string, statistics: Statistics, { stdout, env }: CliContext): void {
  const style = styleOf(terminalOf(stdout, env));
  const rows = Object.entries(statistics).map(([key, value]) => statisticLine(key, value, style));
  stdout.write([`${style.green(style.marks.done)} ${name} is valid`, ...rows, ''].join('\n'));
}

function statisticLine(key: string, value: unknown, style: Style): string {
  const shown = Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
  return `  ${style.dim(`${key}:`)} ${oneLine(shown)}`;
}
