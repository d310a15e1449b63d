import { Command, Option } from 'clipanion';
import { validate } from '../actions/validate.js';
import type { CliContext } from '../context.js';
import { ENV_FILE_OPTION, INPUTS_OPTION, SESSION_OPTION, TOOLS_OPTION } from './options.js';

export class ValidateCommand extends Command<CliContext> {
  static override paths = [['validate']];
  static override usage = Command.Usage({
    description: 'checks a pipeline without running it, and shows its statistics',
    details: `
      Every problem is shown with its place in the file and what to do about it. Warnings do not make a pipeline
      invalid. A pipeline that passes here starts: run makes the same checks.

      The exit status is 0 for a valid pipeline, 1 for an invalid one and 2 when the file cannot be read.
    `,
    examples: [
      ['check a file', '$0 validate pipeline.yaml'],
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
