import { Command, Option } from 'clipanion';
import { tools } from '../actions/tools.js';
import type { CliContext } from '../context.js';
import { ENV_FILE_OPTION, TOOLS_OPTION } from './options.js';

export class ToolsCommand extends Command<CliContext> {
  static override paths = [['tools']];
  static override usage = Command.Usage({
    description: 'lists the tools, or shows one with its inputs and a snippet to paste',
    examples: [
      ['every tool', '$0 tools'],
      ['one tool', '$0 tools store'],
      ['tools of your own beside them', '$0 tools --tools tools.ts'],
    ],
  });

  tool = Option.String({ name: 'NAME', required: false });
  json = Option.Boolean('--json', false, { description: 'print the metadata as one JSON document' });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });

  override execute(): Promise<number> {
    return tools(this, this.context);
  }
}
