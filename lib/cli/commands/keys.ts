import { Command, Option } from 'clipanion';
import { newKey } from '../actions/new-key.js';
import type { CliContext } from '../context.js';

export class KeysNewCommand extends Command<CliContext> {
  static override paths = [['keys', 'new']];
  static override usage = Command.Usage({
    description: 'makes a key for callers of the HTTP API',
    details: `
      Prints the key, which is shown this once, and its entry for the file that SERVICE_API_KEYS_FILE names; --file
      adds the entry by itself. The file has the SHA-256 of the key and not the key. Callers send the key in the header
      Authorization: Bearer KEY, or X-API-Key: KEY.
    `,
    examples: [
      ['a key, and its entry to paste', '$0 keys new --name ada'],
      ['into the keys file', '$0 keys new --name ada --file keys.yaml'],
      ['one that only reads, for every tenant', "$0 keys new --name eye --tenant '*' --scope read"],
    ],
  });

  name = Option.String('--name', { description: '<NAME> stands in the log; default key- and 8 digits' });
  tenants = Option.Array('--tenant', {
    description:
      "<ID> a tenant whose runs the key sees and starts; may be given several times; '*' is every tenant; default default",
  });
  scopes = Option.Array('--scope', {
    description: '<SCOPE> read, run or metrics; may be given several times; default read and run',
  });
  file = Option.String('--file', { description: '<FILE> add the entry to this keys file' });
  json = Option.Boolean('--json', false, { description: 'print the key and its entry as one JSON document' });

  override execute(): Promise<number> {
    return newKey(this, this.context);
  }
}
