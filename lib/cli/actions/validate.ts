import type { Statistics } from '../../waves/statistics.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../json-output.js';
import { prepare } from '../preparation.js';
import type { DefinitionFlags, Preparation } from '../prepared.js';
import { oneLine } from '../printable.js';
import { type Style, styleOf } from '../style.js';
import { tellProblems } from '../tell-problems.js';
import { type Terminal, terminalOf } from '../terminal.js';

/** Checks a pipeline or a plan without running it (rule 11; Plan, rule 3). Answers `invalid` when it has errors. */
export async function validate(
  flags: DefinitionFlags & { readonly json: boolean },
  context: CliContext,
): Promise<ExitStatus> {
  const preparation = await prepare(flags, context);
  if (flags.json) await printReport(preparation, context);
  else {
    tellProblems(preparation, context);
    await printStatistics(preparation, context);
  }
  return preparation.check.ok ? EXIT.done : EXIT.invalid;
}

/** The body of the validation endpoint (D33, D41). */
async function printReport(preparation: Preparation, context: CliContext): Promise<void> {
  if (preparation.kind === 'pipeline') {
    printJson(await context.services.report(preparation.check), context);
  } else {
    const { planReportOf } = await context.services.plans();
    printJson(planReportOf(preparation.check), context);
  }
}

async function printStatistics(preparation: Preparation, { stdout, env }: CliContext): Promise<void> {
  if (!preparation.check.ok) return;
  const terminal = terminalOf(stdout, env);
  const style = styleOf(terminal);
  const rows = await statisticLines(preparation, terminal, style);
  const title = `${style.green(style.marks.done)} ${preparation.name} is valid`;
  stdout.write([title, ...rows, ''].join('\n'));
}

async function statisticLines(
  preparation: Preparation,
  terminal: Terminal,
  style: Style,
): Promise<readonly string[]> {
  if (preparation.kind === 'pipeline') {
    return preparation.check.ok ? pipelineLines(preparation.check.pipeline.statistics, style) : [];
  }
  const { planStatisticLines } = await import('./plan-statistics.js');
  return preparation.check.ok ? planStatisticLines(preparation.check.statistics, terminal, style) : [];
}

function pipelineLines(statistics: Statistics, style: Style): string[] {
  return Object.entries(statistics).map(([key, value]) => statisticLine(key, value, style));
}

function statisticLine(key: string, value: unknown, style: Style): string {
  const shown = Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
  return `  ${style.dim(`${key}:`)} ${oneLine(shown)}`;
}
