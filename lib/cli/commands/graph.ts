import { Command, Option } from 'clipanion';
import { graph } from '../actions/graph.js';
import type { CliContext } from '../context.js';
import { ENV_FILE_OPTION, INPUTS_OPTION, SESSION_OPTION, TOOLS_OPTION } from './options.js';

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
