import { Command, Option } from 'clipanion';
import type { Statistics } from '../../pipelines/waves.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { prepare } from '../input/load-definition.js';
import type { DefinitionFlags, Preparation } from '../input/loaded-definition.js';
import { tellProblems } from '../input/problems.js';
import { printJson } from '../render/stdout.js';
import { type Style, styleOf, type Terminal, terminalOf } from '../render/terminal.js';
import { oneLine } from '../render/text.js';
import { ENV_FILE_OPTION, INPUTS_OPTION, SESSION_OPTION, TOOLS_OPTION } from './shared-options.js';

export class ValidateCommand extends Command<CliContext> {
  static override paths = [['validate']];
  static override usage = Command.Usage({
    description: 'checks a pipeline or a plan without running it, and shows its statistics',
    details: `
      Every problem is shown with its place in the file and what to do about it. Warnings do not make it
      invalid. What passes here starts: run makes the same checks.

      A plan is checked with the pipelines that it names. Its order and waves are shown, and who stores and who reads
      each key.

      The exit status is 0 for what is valid, 1 for what is not and 2 when the file cannot be read.
    `,
    examples: [
      ['check a file', '$0 validate pipeline.yaml'],
      ['check a plan and its pipelines', '$0 validate plan.yaml'],
      ['check what another program writes', 'generate | $0 validate -'],
      ['the report as JSON, for scripts', '$0 validate pipeline.yaml --json'],
    ],
  });

  file = Option.String({ name: 'FILE' });
  json = Option.Boolean('--json', false, { description: 'print the report as one JSON document' });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  inputs = Option.String('--inputs', { description: INPUTS_OPTION });
  session = Option.String('--session', { description: SESSION_OPTION });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });

  override execute(): Promise<number> {
    return validate(this, this.context);
  }
}

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
  const { planStatisticLines } = await import('../render/plan-statistics.js');
  return preparation.check.ok ? planStatisticLines(preparation.check.statistics, terminal, style) : [];
}

function pipelineLines(statistics: Statistics, style: Style): string[] {
  return Object.entries(statistics).map(([key, value]) => statisticLine(key, value, style));
}

function statisticLine(key: string, value: unknown, style: Style): string {
  const shown = Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
  return `  ${style.dim(`${key}:`)} ${oneLine(shown)}`;
}
