import { dot, graphOf, mermaid, text } from '../../pipelines/graph.js';
import { BadUsage } from '../bad-usage.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../json-output.js';
import { prepare } from '../preparation.js';
import type { DefinitionFlags, Preparation } from '../prepared.js';
import { tellProblems } from '../tell-problems.js';
import { terminalOf } from '../terminal.js';

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
