import type { Statistics } from '../../pipelines/statistics.js';
import type { CliContext } from '../context.js';
import { DefinitionCommand, flagOption } from '../input/shared-options.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { createReportOf, type LoadedDefinition, loadDefinition } from '../input/load-definition.js';
import { printProblems } from '../input/problems.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal, type Terminal } from '../render/terminal.js';
import { toSingleLine, wrapLine } from '../render/text.js';

export class ValidateCommand extends DefinitionCommand {
  static override paths = [['validate']];
  static override usage = DefinitionCommand.Usage({
    description: 'checks a pipeline or a plan without running it and shows its statistics',
    details: `
      Each problem is shown with its position in the file and a hint. Warnings do not make a definition invalid unless
      --strict is set. Run makes the same checks before it starts anything.

      A plan is checked together with its pipelines. The report shows the order and waves of its sub-pipelines, and
      which of them store and read each key. A pipeline file that is not there yet is a warning, and an error for run.

      The exit status is 0 for a valid definition, 1 for an invalid one and 2 if a file cannot be read.
    `,
    examples: [
      ['check a file', '$0 validate pipeline.yaml'],
      ['check a plan and its pipelines', '$0 validate plan.yaml'],
      ['check the output of another program', 'generate | $0 validate -'],
      ['fail on warnings, for continuous integration', '$0 validate pipeline.yaml --strict'],
      ['the report as JSON, for scripts', '$0 validate pipeline.yaml --json'],
    ],
  });

  json = flagOption`--json print the report as one JSON document`;
  strict = flagOption`--strict count warnings as errors`;

  /** Checks a pipeline or a plan without running it (rule 11; Plan, rule 3). Returns `invalid` if it has errors. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const checked = await loadDefinition(this, context, false);
    const loaded = this.strict ? rejectWarnings(checked) : checked;
    if (this.json) {
      printJson(await createReportOf(loaded), context);
    } else {
      printProblems(loaded, context);
      await printStatistics(loaded, context);
    }
    return loaded.check.ok ? EXIT.done : EXIT.invalid;
  }
}

/** Turns warnings into errors (D55). */
function rejectWarnings(loaded: LoadedDefinition): LoadedDefinition {
  if (loaded.check.problems.length === 0) return loaded;
  const problems = loaded.check.problems.map((problem) => ({ ...problem, severity: 'error' as const }));
  return { ...loaded, check: { ok: false, problems } };
}

async function printStatistics({ kind, name, check }: LoadedDefinition, context: CliContext): Promise<void> {
  if (!check.ok) return;
  const terminal = detectTerminal(context.stdout, context.env);
  const { style } = terminal;
  let lines: readonly string[];
  if (kind === 'pipeline') {
    lines = formatStatistics(check.pipeline.statistics, terminal);
  } else {
    const { formatPlanStatistics } = await import('../render/plan-statistics.js');
    lines = formatPlanStatistics(check.statistics, terminal);
  }
  const title = wrapLine(`${style.green(style.marks.done)} ${name} is valid`, terminal);
  context.stdout.write([...title, ...lines, ''].join('\n'));
}

function formatStatistics(statistics: Statistics, terminal: Terminal): string[] {
  return Object.entries(statistics).flatMap(([key, value]: [string, unknown]) => {
    const text = Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
    return wrapLine(`  ${terminal.style.dim(`${key}:`)} ${toSingleLine(text)}`, terminal);
  });
}
