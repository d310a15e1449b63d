import { Command, Option } from 'clipanion';
import { createGraph, renderDot, renderMermaid, renderText } from '../../pipelines/graph.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { type DefinitionFlags, type LoadedDefinition, loadDefinition } from '../input/load-definition.js';
import { printProblems } from '../input/problems.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { UsageError } from '../usage-errors.js';
import { ENV_FILE_OPTION, INPUTS_OPTION, SESSION_OPTION, TOOLS_OPTION } from './shared-options.js';

export class GraphCommand extends Command<CliContext> {
  static override paths = [['graph']];
  static override usage = Command.Usage({
    description: 'draws the waves of a pipeline or a plan and the dependencies between its tasks',
    details: `
      A solid arrow is a value that a template reads. A dashed arrow is a dependency from await. Fan-outs are marked.

      For a plan it draws the sub-pipelines; each arrow names the keys that one stores and the other reads.
    `,
    examples: [
      ['in the terminal', '$0 graph pipeline.yaml'],
      ['for a README or an issue', '$0 graph pipeline.yaml --format mermaid'],
      ['a plan', '$0 graph plan.yaml --format mermaid'],
      ['as an image', '$0 graph pipeline.yaml --format dot | dot -Tsvg -o pipeline.svg'],
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

/** A graph as data, and its drawing in each format. */
interface Drawing {
  readonly graph: unknown;
  readonly render: Readonly<Record<(typeof FORMATS)[number], (columns: number) => string>>;
}

/** Draws the tasks of a pipeline or the sub-pipelines of a plan (D43). Returns `invalid` for an invalid definition. */
async function graph(
  flags: DefinitionFlags & { readonly format: string; readonly json: boolean },
  context: CliContext,
): Promise<ExitStatus> {
  const format = FORMATS.find((name) => name === flags.format);
  if (format === undefined) {
    throw new UsageError(`--format must be ${FORMATS.join(', ')}, not "${flags.format}"`);
  }
  const loaded = await loadDefinition(flags, context);
  const drawing = await createDrawing(loaded);
  if (drawing === undefined) {
    printProblems(loaded, context);
    return EXIT.invalid;
  }
  if (flags.json) printJson(drawing.graph, context);
  else context.stdout.write(drawing.render[format](detectTerminal(context.stdout, context.env).columns));
  return EXIT.done;
}

/** Returns undefined for an invalid definition. */
async function createDrawing({ kind, check }: LoadedDefinition): Promise<Drawing | undefined> {
  if (!check.ok) return undefined;
  if (kind === 'pipeline') {
    const pipelineGraph = createGraph(check.pipeline);
    return {
      graph: pipelineGraph,
      render: {
        text: (columns) => renderText(pipelineGraph, columns),
        mermaid: () => renderMermaid(pipelineGraph),
        dot: () => renderDot(pipelineGraph),
      },
    };
  }
  if (check.plan === undefined) return undefined;
  const { createPlanGraph, renderPlanDot, renderPlanMermaid, renderPlanText } = await import(
    '../lazy/plans.js'
  );
  const planGraph = createPlanGraph(check.plan);
  return {
    graph: planGraph,
    render: {
      text: (columns) => renderPlanText(planGraph, columns),
      mermaid: () => renderPlanMermaid(planGraph),
      dot: () => renderPlanDot(planGraph),
    },
  };
}
