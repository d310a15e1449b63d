import { resolve } from 'node:path';
import { Command } from 'clipanion';
import { textOption, listOption, flagOption } from '../input/shared-options.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import type { ApiKey } from '../../http/auth/authenticate.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { UsageError } from '../input/usage-errors.js';
import { updateFile } from '../render/update-file.js';

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
      ['a key that can back up the store of the server', '$0 keys new --name backups --scope admin'],
      ['a read-only key for every tenant', "$0 keys new --name monitor --tenant '*' --scope read"],
    ],
  });

  name = textOption`--name <NAME> name of the key in the log; by default key- and the first 8 digits of its SHA-256`;
  tenants = listOption`--tenant <ID> tenant whose runs the key can see and start; can be repeated; '*' means every
    tenant; by default the tenant default`;
  scopes = listOption`--scope <SCOPE> what the key allows: read, run, edit, metrics or admin; can be repeated; default read
    and run`;
  file = textOption`--file <FILE> add the entry to this keys file`;
  json = flagOption`--json print the key and its entry as one JSON document`;

  /** Creates a key and prints it once. Its entry is added to a keys file or printed too (D37). */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const modules = await import('../lazy/keys.js');
    const { key, sha256 } = modules.createApiKey(context.secretBytes(modules.KEY_BYTES));
    const entry = createEntry(this, sha256, modules);
    const text = modules.formatKeyEntry(entry);
    if (this.file !== undefined) await appendEntry(text, this.file, modules, context);
    if (this.json) printJson({ key, ...entry }, context);
    else printKey(key, text, this.file, context);
    return EXIT.done;
  }
}

type KeysModule = typeof import('../lazy/keys.js');

function createEntry(
  flags: KeysNewCommand,
  sha256: string,
  { KEY_FIELD_CHECKS, parseKeysFile, formatKeyEntry }: KeysModule,
): ApiKey {
  const { name = `key-${sha256.slice(0, 8)}`, tenants = ['default'], scopes = ['read', 'run'] } = flags;
  assertValid('--name', KEY_FIELD_CHECKS.name(name));
  assertValid('--tenant', KEY_FIELD_CHECKS.tenants(tenants));
  assertValid('--scope', KEY_FIELD_CHECKS.scopes(scopes));
  const entry = { name, sha256, tenants, scopes: scopes as ApiKey['scopes'] };
  // Fails here rather than when the server reads the printed entry.
  const [parsed = entry] = parseKeysFile(formatKeyEntry(entry), 'entry');
  return parsed;
}

function assertValid(flag: string, problem: string | undefined): void {
  if (problem !== undefined) throw new UsageError(`${flag}: ${problem}`);
}

/** Adds an entry to a keys file, unless the server could not read the resulting file. Otherwise the file is unchanged. */
async function appendEntry(
  entry: string,
  name: string,
  { parseKeysFile }: KeysModule,
  { cwd }: CliContext,
): Promise<void> {
  const addEntry = (content: Uint8Array): string => {
    const existing = decodeUtf8(content);
    const text = existing + (existing === '' || existing.endsWith('\n') ? entry : `\n${entry}`);
    parseKeysFile(text, name);
    return text;
  };
  try {
    await updateFile(resolve(cwd, name), addEntry, OWNER_ONLY);
  } catch (error) {
    throw new UsageError(`cannot add a key to ${name}: ${describeErrno(error)}; nothing was changed`);
  }
}

const OWNER_ONLY = 0o600;

function printKey(key: string, entry: string, file: string | undefined, context: CliContext): void {
  const { stdout, stderr, env } = context;
  const { style } = detectTerminal(stderr, env);
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
