import { extname, resolve } from 'node:path';
import { DefinitionCommand, textOption, flagOption } from '../input/shared-options.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { type LoadedDefinition, loadDefinition } from '../input/load-definition.js';
import { readChoice } from '../input/flags.js';
import { printProblems } from '../input/problems.js';
import { printJson, printOrWrite } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { UsageError } from '../input/usage-errors.js';

export class GraphCommand extends DefinitionCommand {
  static override paths = [['graph']];
  static override usage = DefinitionCommand.Usage({
    description: 'draws the waves of a pipeline or a plan and the dependencies between its tasks',
    details: `
      A solid arrow means that a template reads the output of a task, a dashed arrow that a task awaits another one.
      Fan-outs are marked. An SVG needs nothing besides itself: browsers and documents show it.

      With --output, the ending of the file says the format: .txt, .mmd or .mermaid, .dot or .gv, .svg. A file that is there
      is replaced.

      The graph of a plan shows its sub-pipelines; each arrow names the keys that one stores and the other reads.
    `,
    examples: [
      ['in the terminal', '$0 graph pipeline.yaml'],
      ['for a README or an issue', '$0 graph pipeline.yaml --format mermaid'],
      ['a plan', '$0 graph plan.yaml --format mermaid'],
      ['as an image', '$0 graph pipeline.yaml --output pipeline.svg'],
    ],
  });

  format = textOption`--format <FORMAT> text, mermaid, dot or svg; default: by the ending of --output, otherwise text`;
  output = textOption`--output,-o <FILE> write the drawing to this file`;
  json = flagOption`--json print waves and edges as one JSON document`;

  /** Draws the tasks of a pipeline or the sub-pipelines of a plan (D43). Returns `invalid` for an invalid definition. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const format = chooseFormat(this);
    const loaded = await loadDefinition(this, context);
    const drawing = await createDrawing(loaded, format);
    if (drawing === undefined) {
      printProblems(loaded, context);
      return EXIT.invalid;
    }
    if (this.json) printJson(drawing.graph, context);
    else {
      const columns =
        this.output === undefined ? detectTerminal(context.stdout, context.env).columns : COLUMNS_OF_FILES;
      await printOrWrite(drawing.render(columns), this.output, context);
    }
    return EXIT.done;
  }
}

/** A text in a file is as wide as this, whatever the terminal is. */
const COLUMNS_OF_FILES = 120;

const FORMATS = ['text', 'mermaid', 'dot', 'svg'] as const;

type Format = (typeof FORMATS)[number];

const FORMAT_OF_ENDING: ReadonlyMap<string, Format> = new Map([
  ['.txt', 'text'],
  ['.mmd', 'mermaid'],
  ['.mermaid', 'mermaid'],
  ['.dot', 'dot'],
  ['.gv', 'dot'],
  ['.svg', 'svg'],
]);

/** @throws UsageError for an unknown format, and for a file whose ending says none: a text is no image.png */
function chooseFormat({ file, format, output, json, context }: GraphCommand): Format {
  const { cwd } = context;
  if (output !== undefined && resolve(cwd, output) === resolve(cwd, file)) {
    throw new UsageError('--output would replace the definition itself', 'name another file');
  }
  if (output !== undefined && json) {
    throw new UsageError('--json prints to standard output', 'leave out --output, and write > FILE');
  }
  const ending = extname(output ?? '').toLowerCase();
  const found =
    readChoice('--format', format, FORMATS) ?? (ending === '' ? 'text' : FORMAT_OF_ENDING.get(ending));
  if (found !== undefined) return found;
  const endings = [...FORMAT_OF_ENDING.keys()].join(', ');
  throw new UsageError(`"${ending}" is no format of --output`, `the endings are ${endings}; or add --format`);
}

interface Drawing {
  readonly graph: unknown;
  readonly render: (columns: number) => string;
}

async function createDrawing(
  { kind, check }: LoadedDefinition,
  format: Format,
): Promise<Drawing | undefined> {
  if (!check.ok) return undefined;
  if (kind === 'pipeline') {
    const { createGraph, renderDot, renderMermaid, renderSvg, renderText } = await import('../lazy/graph.js');
    const pipelineGraph = createGraph(check.pipeline);
    const render = { text: renderText, mermaid: renderMermaid, dot: renderDot, svg: renderSvg }[format];
    return { graph: pipelineGraph, render: (columns) => render(pipelineGraph, columns) };
  }
  if (check.plan === undefined) return undefined;
  const plans = await import('../lazy/plans.js');
  const planGraph = plans.createPlanGraph(check.plan);
  const render = {
    text: plans.renderPlanText,
    mermaid: plans.renderPlanMermaid,
    dot: plans.renderPlanDot,
    svg: plans.renderPlanSvg,
  }[format];
  return { graph: planGraph, render: (columns) => render(planGraph, columns) };
}
