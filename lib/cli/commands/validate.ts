import { Command, Option } from 'clipanion';
import { validate } from '../actions/validate.js';
import type { CliContext } from '../context.js';
import { ENV_FILE_OPTION, INPUTS_OPTION, SESSION_OPTION, TOOLS_OPTION } from './options.js';

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
