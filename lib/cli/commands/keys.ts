import { appendFile, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { errorCode, messageOf } from '../../common/errors.js';
import type { Key } from '../../http/auth/caller.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { reasonOf } from '../input/read-file.js';
import { printJson } from '../render/stdout.js';
import { styleFor } from '../render/terminal.js';
import { BadUsage } from '../usage-errors.js';

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

interface NewKeyFlags {
  readonly name: string | undefined;
  readonly tenants: string[] | undefined;
  readonly scopes: string[] | undefined;
  readonly file: string | undefined;
  readonly json: boolean;
}

type Parts = Awaited<ReturnType<CliContext['services']['keys']>>;

/** Makes a key and tells it once; its entry goes to a keys file, or is told too (D37). */
export async function newKey(flags: NewKeyFlags, context: CliContext): Promise<ExitStatus> {
  const parts = await context.services.keys();
  const { key, sha256 } = parts.newKey(context.secretBytes(parts.KEY_BYTES));
  const entry = entryOf(flags, sha256, parts);
  const text = parts.keyEntry(entry);
  if (flags.file !== undefined) await append(text, flags.file, parts, context);
  if (flags.json) printJson({ key, ...entry }, context);
  else tell(key, text, flags.file, context);
  return EXIT.done;
}

function entryOf(flags: NewKeyFlags, sha256: string, { KEY_FAULTS, keysIn, keyEntry }: Parts): Key {
  const { name = `key-${sha256.slice(0, 8)}`, tenants = ['default'], scopes = ['read', 'run'] } = flags;
  refuse('--name', KEY_FAULTS.name(name));
  refuse('--tenant', KEY_FAULTS.tenants(tenants));
  refuse('--scope', KEY_FAULTS.scopes(scopes));
  const entry = { name, sha256, tenants, scopes: scopes as Key['scopes'] };
  // What is printed must be read as it was meant.
  const [read = entry] = keysIn(keyEntry(entry), 'entry');
  return read;
}

function refuse(flag: string, fault: string | undefined): void {
  if (fault !== undefined) throw new BadUsage(`${flag}: ${fault}`);
}

/** Adds an entry to a file, unless the file would then hold what no server reads. */
async function append(entry: string, name: string, { keysIn }: Parts, { cwd }: CliContext): Promise<void> {
  const path = resolve(cwd, name);
  try {
    const there = await textOf(path);
    const added = there === '' || there.endsWith('\n') ? entry : `\n${entry}`;
    keysIn(there + added, name);
    await appendFile(path, added, { mode: 0o600 });
  } catch (error) {
    const why = errorCode(error) === 'bad_usage' ? messageOf(error) : reasonOf(error);
    throw new BadUsage(`no key was added to ${name}: ${why}`);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

function tell(
  key: string,
  entry: string,
  file: string | undefined,
  { stdout, stderr, env }: CliContext,
): void {
  const style = styleFor(stderr, env);
  const kept =
    file === undefined
      ? 'Its entry for the file that SERVICE_API_KEYS_FILE names:'
      : `Its entry was added to ${file}: a server that is started with SERVICE_API_KEYS_FILE=${file} knows it.`;
  stdout.write(`${key}\n`);
  stderr.write(`\n${style.dim('The key is shown this once, and kept nowhere.')}\n${style.dim(kept)}\n`);
  if (file === undefined) stdout.write(`\n${entry}`);
}
