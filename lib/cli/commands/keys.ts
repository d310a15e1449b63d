import { appendFile, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { errorCode } from '../../common/errors.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import type { ApiKey } from '../../http/auth/keys-file.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../render/stdout.js';
import { streamStyle } from '../render/terminal.js';
import { UsageError } from '../usage-errors.js';

export class KeysNewCommand extends Command<CliContext> {
  static override paths = [['keys', 'new']];
  static override usage = Command.Usage({
    description: 'creates an API key for callers of the HTTP API',
    details: `
      Prints the key once, together with its entry for the keys file (SERVICE_API_KEYS_FILE). With --file it adds the
      entry to that file. The file holds the SHA-256 of the key, never the key itself. Callers send the key in the
      header Authorization: Bearer KEY or X-API-Key: KEY.
    `,
    examples: [
      ['print a key and its entry', '$0 keys new --name ada'],
      ['add the entry to the keys file', '$0 keys new --name ada --file keys.yaml'],
      ['a read-only key for every tenant', "$0 keys new --name monitor --tenant '*' --scope read"],
    ],
  });

  name = Option.String('--name', {
    description: '<NAME> name of the key in the log; default key- and 8 digits',
  });
  tenants = Option.Array('--tenant', {
    description:
      "<ID> tenant whose runs the key can see and start; can be repeated; '*' is every tenant; default default",
  });
  scopes = Option.Array('--scope', {
    description: '<SCOPE> read, run or metrics; can be repeated; default read and run',
  });
  file = Option.String('--file', { description: '<FILE> add the entry to this keys file' });
  json = Option.Boolean('--json', false, { description: 'print the key and its entry as one JSON document' });

  override execute(): Promise<number> {
    return createKey(this, this.context);
  }
}

interface NewKeyFlags {
  readonly name: string | undefined;
  readonly tenants: string[] | undefined;
  readonly scopes: string[] | undefined;
  readonly file: string | undefined;
  readonly json: boolean;
}

type KeysModule = typeof import('../lazy/keys.js');

/** Creates a key and prints it once. Its entry is added to a keys file or printed too (D37). */
async function createKey(flags: NewKeyFlags, context: CliContext): Promise<ExitStatus> {
  const modules = await import('../lazy/keys.js');
  const { key, sha256 } = modules.createApiKey(context.secretBytes(modules.KEY_BYTES));
  const entry = createEntry(flags, sha256, modules);
  const text = modules.formatKeyEntry(entry);
  if (flags.file !== undefined) await appendEntry(text, flags.file, modules, context);
  if (flags.json) printJson({ key, ...entry }, context);
  else printKey(key, text, flags.file, context);
  return EXIT.done;
}

function createEntry(
  flags: NewKeyFlags,
  sha256: string,
  { KEY_FIELD_CHECKS, parseKeysFile, formatKeyEntry }: KeysModule,
): ApiKey {
  const { name = `key-${sha256.slice(0, 8)}`, tenants = ['default'], scopes = ['read', 'run'] } = flags;
  assertValid('--name', KEY_FIELD_CHECKS.name(name));
  assertValid('--tenant', KEY_FIELD_CHECKS.tenants(tenants));
  assertValid('--scope', KEY_FIELD_CHECKS.scopes(scopes));
  const entry = { name, sha256, tenants, scopes: scopes as ApiKey['scopes'] };
  // The server must read the printed entry as it is meant.
  const [parsed = entry] = parseKeysFile(formatKeyEntry(entry), 'entry');
  return parsed;
}

function assertValid(flag: string, problem: string | undefined): void {
  if (problem !== undefined) throw new UsageError(`${flag}: ${problem}`);
}

/** Appends an entry to a keys file, unless the server could not read the resulting file. */
async function appendEntry(
  entry: string,
  name: string,
  { parseKeysFile }: KeysModule,
  { cwd }: CliContext,
): Promise<void> {
  const path = resolve(cwd, name);
  try {
    const existing = await readIfExists(path);
    const added = existing === '' || existing.endsWith('\n') ? entry : `\n${entry}`;
    parseKeysFile(existing + added, name);
    await appendFile(path, added, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`cannot add a key to ${name}: ${describeErrno(error)}`);
  }
}

async function readIfExists(path: string): Promise<string> {
  try {
    return decodeUtf8(await readFile(path));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

function printKey(
  key: string,
  entry: string,
  file: string | undefined,
  { stdout, stderr, env }: CliContext,
): void {
  const style = streamStyle(stderr, env);
  const about =
    file === undefined
      ? 'Its entry for the keys file (SERVICE_API_KEYS_FILE):'
      : `Its entry was added to ${file}. A server started with SERVICE_API_KEYS_FILE=${file} accepts the key.`;
  stdout.write(`${key}\n`);
  stderr.write(
    `\n${style.dim('Copy the key now: it is not stored and cannot be shown again.')}\n${style.dim(about)}\n`,
  );
  if (file === undefined) stdout.write(`\n${entry}`);
}
