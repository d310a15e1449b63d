import { Command, Option } from 'clipanion';
import { dot, graphOf, mermaid, text } from '../../pipelines/graph.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { prepare } from '../input/load-definition.js';
import type { DefinitionFlags, Preparation } from '../input/loaded-definition.js';
import { tellProblems } from '../input/problems.js';
import { printJson } from '../render/stdout.js';
import { terminalOf } from '../render/terminal.js';
import { BadUsage } from '../usage-errors.js';
import { ENV_FILE_OPTION, INPUTS_OPTION, SESSION_OPTION, TOOLS_OPTION } from './shared-options.js';

export class GraphCommand extends Command<CliContext> {
  static override paths = [['graph']];
  static override usage = Command.Usage({
    description: 'draws the waves of a pipeline or a plan, and what depends on what',
    details: `
      A solid arrow is a value that a template reads, a dashed one a barrier made by await. Fan-outs are marked.

      Of a plan the sub-pipelines are drawn, and on the arrows the keys that they hand on.
    `,
    examples: [
      ['in the terminal', '$0 graph pipeline.yaml'],
      ['for a README or an issue', '$0 graph pipeline.yaml --format mermaid'],
      ['a plan', '$0 graph plan.yaml --format mermaid'],
      ['as a picture', '$0 graph pipeline.yaml --format dot | dot -Tsvg -o pipeline.svg'],
    ],
  });

  file = Option.String({ name: 'FILE' });
  format = Option.String('--format', 'text', { description: '<FORMAT> text, mermaid or dot; default text' });
  json = Option.Boolean('--json', false, { description: 'print waves and edges as one JSON document' });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  inputs = Option.String('--inputs', { description: INPUTS_OPTION });
  session = Option.String('--session', { description: SESSION_OPTION });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });

  override execute(): Promise<number> {
    return graph(this, this.context);
  }
}

const FORMATS = ['text', 'mermaid', 'dot'] as const;

type Format = (typeof FORMATS)[number];

/** A graph, and how it is drawn. */
interface Drawing {
  readonly graph: unknown;
  readonly draw: Readonly<Record<Format, (columns: number) => string>>;
}

/** Draws the waves of a pipeline, or the sub-pipelines of a plan (D43). Answers `invalid` when it has errors. */
export async function graph(
  flags: DefinitionFlags & { readonly format: string; readonly json: boolean },
  context: CliContext,
): Promise<ExitStatus> {
  const format = FORMATS.find((known) => known === flags.format);
  if (format === undefined) {
    throw new BadUsage(`--format knows no "${flags.format}"`, `the formats are ${FORMATS.join(', ')}`);
  }
  const preparation = await prepare(flags, context);
  const drawing = await drawingOf(preparation, context);
  if (drawing === undefined) {
    tellProblems(preparation, context);
    return EXIT.invalid;
  }
  if (flags.json) printJson(drawing.graph, context);
  else context.stdout.write(drawing.draw[format](terminalOf(context.stdout, context.env).columns));
  return EXIT.done;
}

/** Undefined for a definition that has errors. */
async function drawingOf(preparation: Preparation, { services }: CliContext): Promise<Drawing | undefined> {
  if (preparation.kind === 'pipeline') {
    if (!preparation.check.ok) return undefined;
    const drawn = graphOf(preparation.check.pipeline);
    return {
      graph: drawn,
      draw: { text: (columns) => text(drawn, columns), mermaid: () => mermaid(drawn), dot: () => dot(drawn) },
    };
  }
  if (!preparation.check.ok || preparation.check.plan === undefined) return undefined;
  const { planDot, planGraphOf, planMermaid, planText } = await services.plans();
  const drawn = planGraphOf(preparation.check.plan);
  return {
    graph: drawn,
    draw: {
      text: (columns) => planText(drawn, columns),
      mermaid: () => planMermaid(drawn),
      dot: () => planDot(drawn),
    },
  };
}
