import { Command, Option } from 'clipanion';
import type { ExitStatus } from '../exit-status.js';
import { ServerCommand } from '../input/shared-options.js';
import { inspect } from '../runs/inspection/inspect.js';

export class InspectCommand extends ServerCommand {
  static override paths = [['inspect']];
  static override usage = Command.Usage({
    description: 'shows what the actors of a run have done, in a browser',
    details: `
      WHAT is a recording, as run --record writes it, or the id of a run of a server. Of a recording the command serves the
      page on a free port of this machine, prints its address, and ends with Ctrl-C; no server is needed. Of a run it prints
      the address of the page on the server.
    `,
    examples: [
      ['a recording from another machine', '$0 inspect out.wtrec'],
      ['a run of a server, by the end of its id', '$0 inspect 3f9c1a --open'],
    ],
  });

  what = Option.String({ name: 'WHAT', required: true });
  open = Option.Boolean('--open', false, { description: 'open the page in the browser of this machine' });

  override execute(): Promise<ExitStatus> {
    return inspect(this, this.context);
  }
}
