import { Command, Option } from 'clipanion';
import { doctor } from '../doctor/doctor.js';
import type { CliContext } from '../context.js';
import { ENV_FILE_OPTION, TOOLS_OPTION } from './shared-options.js';

export class DoctorCommand extends Command<CliContext> {
  static override paths = [['doctor']];
  static override usage = Command.Usage({
    description: 'checks that everything Wavetrain needs is in place',
    examples: [['look for trouble', '$0 doctor']],
  });

  json = Option.Boolean('--json', false, { description: 'print the findings as one JSON document' });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });

  override execute(): Promise<number> {
    return doctor(this, this.context);
  }
}
