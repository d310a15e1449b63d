import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'clipanion';
import { readStoreFile } from '../../common/config/server-config.js';
import { formatNumber } from '../../common/text.js';
import type { CliContext } from '../context.js';
import { readEnvFile } from '../input/flags.js';
import { ENV_FILE_OPTION, flagOption, textOption } from '../input/shared-options.js';
import { UsageError } from '../input/usage-errors.js';

/** The file of a store, and how its user has named it. */
interface NamedStore {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
}

/** Base of the commands on the file that keeps the runs of a server (D74). They need no server. */
export abstract class StoreCommand extends Command<CliContext> {
  json = flagOption`--json print the result as one JSON document`;
  store = textOption`--store <FILE> file of the store; overrides SERVICE_STORE`;
  envFile = textOption`--env-file ${ENV_FILE_OPTION}`;

  /** Finds the store that the flag names, or the environment. */
  protected async findStore(): Promise<NamedStore> {
    const { context } = this;
    await readEnvFile(this.envFile, context);
    const name = readStoreFile(this.store === undefined ? context.env : { SERVICE_STORE: this.store });
    if (name === undefined) {
      throw new UsageError('which store? Write --store FILE, or set SERVICE_STORE', 'as the server has it');
    }
    const file = resolve(context.cwd, name);
    assertNoFolder(name, file);
    return { name, file };
  }
}

/** @throws UsageError for a folder, such as the one with the history of the shell */
function assertNoFolder(name: string, file: string): void {
  if (!existsSync(file) || !statSync(file).isDirectory()) return;
  const hint = existsSync(join(file, 'runs.db'))
    ? `the history of the shell is ${join(name, 'runs.db')}`
    : 'name the file of a store';
  throw new UsageError(`${name} is a folder`, hint);
}

/** `12 KiB`, `1.5 MiB`, `2.25 GiB` */
export function formatSize(bytes: number): string {
  if (bytes < 2 ** 20) return `${formatNumber(Math.ceil(bytes / 1024))} KiB`;
  if (bytes < 2 ** 30) return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
