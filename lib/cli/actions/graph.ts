import { dot, type Graph, graphOf, mermaid, text } from '../../pipelines/graph.js';
import { BadUsage } from '../bad-usage.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../json-output.js';
import { type PipelineFlags, preparePipeline } from '../preparation.js';
import { tellProblems } from '../tell-problems.js';
import { terminalOf } from '../terminal.js';

const FORMATS: Readonly<Record<string, (graph: Graph, columns: number) => string>> = { text, mermaid, dot };

/** Draws the waves of a pipeline (D43). Answers `invalid` when it has errors. */
export async function graph(
  flags: PipelineFlags & { readonly format: string; readonly json: boolean },
  context: CliContext,
): Promise<ExitStatus> {
  const draw = Object.hasOwn(FORMATS, flags.format) ? FORMATS[flags.format] : undefined;
  if (draw === undefined) {
    throw new BadUsage(
      `--format knows no "${flags.format}"`,
      `the formats are ${Object.keys(FORMATS).join(', ')}`,
    );
  }
  const preparation = await preparePipeline(flags, context);
  if (!preparation.check.ok) {
    tellProblems(preparation, context);
    return EXIT.invalid;
  }
  const drawn = graphOf(preparation.check.pipeline);
  if (flags.json) printJson(drawn, context);
  else context.stdout.write(draw(drawn, terminalOf(context.stdout, context.env).columns));
  return EXIT.done;
}
