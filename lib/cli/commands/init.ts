import { Command, Option } from 'clipanion';
import { init } from '../init/init.js';
import type { CliContext } from '../context.js';

export class InitCommand extends Command<CliContext> {
  static override paths = [['init']];
  static override usage = Command.Usage({
    description: 'writes a small pipeline to start from, with a tool of its own and editor support',
    details: `
      Files that exist are never overwritten: init lists them and writes nothing, unless --force is given.
    `,
    examples: [
      ['into a new folder', '$0 init demo'],
      ['into this one', '$0 init'],
    ],
  });

  directory = Option.String({ name: 'DIR', required: false });
  force = Option.Boolean('--force', false, { description: 'overwrite files that exist' });

  override execute(): Promise<number> {
    return init({ directory: this.directory ?? '.', force: this.force }, this.context);
  }
}
